// Chats by OpenAI's and Anthropic's own libraries, streamed and not, with a server behind the door that never answers,
// and prints the statuses of their errors and how many requests each call took, as JSON:
//   OPENAI_API_KEY=… node lost.mjs NODE_MODULES BASE
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, base] = process.argv.slice(2);
const from = async (name) => (await import(pathToFileURL(join(modules, name)))).default;
const [OpenAI, Anthropic] = [await from("openai/index.mjs"), await from("@anthropic-ai/sdk/index.mjs")];
let requests = 0;
const counting = (...args) => (requests++, fetch(...args));
const options = { apiKey: process.env.OPENAI_API_KEY, fetch: counting };
const openAI = new OpenAI({ ...options, baseURL: `${base}/openai/v1` });
const anthropic = new Anthropic({ ...options, baseURL: `${base}/anthropic` });
const messages = (content) => [{ role: "user", content }];
const heard = {};

for (const stream of [false, true]) {
  const calls = {
    openai: () => openAI.chat.completions.create({ model: "gpt-5", messages: messages(`o ${stream}`), stream }),
    anthropic: () => anthropic.messages.create({ model: "claude-5", max_tokens: 9, messages: messages(`a ${stream}`), stream }),
  };
  for (const [name, call] of Object.entries(calls)) {
    requests = 0;
    let status = 200;
    try {
      await call();
    } catch (error) {
      status = error.status;
    }
    heard[`${name} ${stream}`] = { Status: status, Requests: requests };
  }
}
console.log(JSON.stringify(heard));
