// Sends large files ahead of the request that uses them. What is cut off goes on where it was.

const aheadFrom = 1 << 20; // larger files go ahead
const mostHashed = 512 << 20; // a browser takes the hash of a whole file, in memory
const pieceBytes = 4 << 20; // of one request
const tries = 5; // without a byte that arrived

const large = (value) => value instanceof File && value.size > aheadFrom && value.size <= mostHashed && value.type !== "";

// Refused is an answer of the service that is no upload.
export class Refused extends Error {
  constructor(status, problem) {
    super("refused");
    Object.assign(this, { status, problem });
  }
}

// sendAhead puts artifacts in the places of a form's large files. A file that the service takes in a form alone stays.
export async function sendAhead(data, uploads, onProgress) {
  if (!globalThis.crypto?.subtle) return; // a page without TLS has no hash
  for (const name of new Set(data.keys())) {
    const values = data.getAll(name);
    if (!values.some(large)) continue;
    const sent = [];
    for (const value of values) {
      const upload = large(value) ? await send(value, uploads, onProgress) : null;
      if (upload && String(sent.at(-1)).startsWith("file:")) sent.pop(); // the text that stood for it
      sent.push(upload ? (name.endsWith(".files") ? `${upload.artifact} ${upload.content_type}` : upload.artifact) : value);
    }
    data.delete(name);
    for (const value of sent) data.append(name, value);
  }
}

// send returns the complete upload of a file; null if the service takes no such file ahead.
async function send(file, uploads, onProgress) {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  const sha256 = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const answer = await fetch(uploads, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ content_type: file.type, bytes: file.size, sha256 }),
  });
  if (answer.status === 404 || answer.status === 400) return null;
  let { upload } = await read(answer);
  if (upload.state === "complete") return upload;
  const { pathname, search } = new URL(upload.url); // this page's own server, whatever address it gives others
  for (let failed = 0; ;) {
    onProgress(upload.received, upload.bytes);
    if (upload.state === "complete") return upload;
    const before = upload.received;
    try {
      ({ upload } = await read(await put(pathname + search, file, before)));
    } catch (problem) {
      if (final(problem)) throw problem;
      if (++failed === tries) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** failed * Math.random()));
      const now = await fetch(pathname + search).catch(() => null);
      if (now?.ok) ({ upload } = await now.json());
    }
    if (upload.received > before) failed = 0;
  }
}

// final reports whether a refusal stays as it is: not of bytes that another request has brought meanwhile.
function final(problem) {
  return problem instanceof Refused && problem.status < 500 && problem.problem.error?.details?.[0]?.field !== "Content-Range";
}

function put(target, file, from) {
  const to = Math.min(from + pieceBytes, file.size);
  return fetch(target, {
    method: "PUT", body: file.slice(from, to), headers: { "Content-Type": "application/octet-stream", "Content-Range": `bytes ${from}-${to - 1}/${file.size}` },
  });
}

async function read(answer) {
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}
