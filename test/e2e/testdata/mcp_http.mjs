// Uses the tools of a server over HTTP by the MCP library, and prints their names, a call's answer with the progress
// that was heard of, and a resource, or the error, as JSON:
//   node mcp_http.mjs NODE_MODULES URL KEY TOOL ARGUMENTS [RESOURCE]
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, url, key, tool, args, uri] = process.argv.slice(2);
const library = (file) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm/client", file)));
const { Client } = await library("index.js");
const { StreamableHTTPClientTransport } = await library("streamableHttp.js");

const out = { progress: 0 };
try {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }),
  );
  out.tools = (await client.listTools()).tools.map((one) => one.name);
  out.answer = await client.callTool({ name: tool, arguments: JSON.parse(args) }, undefined, {
    onprogress: () => out.progress++,
  });
  if (uri) {
    out.resource = (await client.readResource({ uri })).contents[0].text;
  }
  await client.close();
} catch (error) {
  out.error = String(error);
}
console.log(JSON.stringify(out));
