// Chats, streams, calls a tool and gets JSON by Anthropic's own library, and prints what it heard, as JSON:
//   ANTHROPIC_BASE_URL=… ANTHROPIC_API_KEY=… node anthropic_steps.mjs NODE_MODULES [cut]
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, cut] = process.argv.slice(2);
const { default: Anthropic } = await import(pathToFileURL(join(modules, "@anthropic-ai/sdk/index.mjs")));
const client = new Anthropic();
const heard = { Tasks: [] };
const asked = (content) => ({ model: "claude-5", max_tokens: 300, messages: [{ role: "user", content }] });
const said = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");

async function chat() {
  const { data, response } = await client.messages.create(asked("Greet me")).withResponse();
  heard.Greeting = said(data);
  heard.Tasks.push(response.headers.get("x-task-id"));
}

async function stream() {
  heard.Streamed = "";
  const answer = client.messages.stream(asked("Greet me")).on("text", (piece) => (heard.Streamed += piece));
  heard.Finish = (await answer.finalMessage()).stop_reason;
}

async function tools() {
  const input_schema = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
  const answer = await client.messages.create({ ...asked("What is the weather? In Lund."), tools: [{ name: "get_weather", input_schema }] });
  const call = answer.content.find((b) => b.type === "tool_use");
  heard.Tool = call.name;
  heard.Arguments = JSON.stringify(call.input);
}

async function schema() {
  const schema = { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false };
  const answer = await client.messages.parse({ ...asked("Name a town"), output_config: { format: { type: "json_schema", schema } } });
  heard.Town = JSON.parse(said(answer)).town;
}

for (const step of cut ? [chat] : [chat, stream, tools, schema]) {
  await step();
}
console.log(JSON.stringify(heard));
