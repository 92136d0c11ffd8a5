// Reads a stream of events that a request is answered with.

// events yields the events of an answer, each with its name and its data. An answer that breaks off ends.
export async function* events(body) {
  let rest = "";
  for await (const piece of chunks(body.pipeThrough(new TextDecoderStream()))) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const name = /^event: ?(.*)$/m.exec(frame)?.[1];
      const data = /^data: ?(.*)$/m.exec(frame)?.[1];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

async function* chunks(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    yield value;
  }
}

// saidWith adds a piece to the text and the thoughts of an answer; of a tool call's piece there is no part here.
export const saidWith = ({ text, thoughts }, piece) => ({ text: text + (piece.text ?? ""), thoughts: thoughts + (piece.reasoning ?? "") });
