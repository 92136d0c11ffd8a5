// Calls the service by the AI SDK, whose provider for OpenAI uses responses, and prints what it heard, as JSON:
//   OPENAI_BASE_URL=… OPENAI_API_KEY=… node ai_sdk.mjs NODE_MODULES
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(join(modules, "package.json")).resolve(name)));
const { generateText, streamText, jsonSchema, tool, isStepCount, stepCountIs, Output } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const heard = { references: 0 };
const openai = createOpenAI({
  baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY,
  fetch: (url, options) => (heard.references += options.body.split('"item_reference"').length - 1, fetch(url, options)),
});
const model = openai("text.chat");

const plain = await generateText({ model, system: "Be brief.", prompt: "What is 12*7+1?" });
heard.text = plain.text;
heard.finish = plain.finishReason;
heard.tokens = plain.usage.totalTokens;

heard.chunks = 0;
const streamed = streamText({ model, prompt: "say one two three four five", onError: ({ error }) => { throw error; } });
heard.streamed = "";
for await (const piece of streamed.textStream) {
  heard.chunks++;
  heard.streamed += piece;
}

// Its next turn refers to the text of the one before by its id.
const next = await generateText({ model, messages: [{ role: "user", content: "What is 12*7+1?" }, ...plain.response.messages, { role: "user", content: "What is 2+2?" }] });
heard.next = next.text;

heard.called = [];
const tools = {
  get_weather: tool({
    description: "Tells the weather of a town.",
    inputSchema: jsonSchema({ type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false }),
    execute: async (given) => (heard.called.push(given), "rain"),
  }),
};
const loop = { model, tools, stopWhen: (isStepCount ?? stepCountIs)(4), prompt: "What is the weather in Lund?" };
heard.loop = (await generateText(loop)).text;
heard.unstored = (await generateText({ ...loop, providerOptions: { openai: { store: false } } })).text;
heard.streamedLoop = await streamText(loop).text;

const schema = jsonSchema({ type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false });
heard.json = (await generateText({ model, prompt: "A town, please.", output: Output.object({ schema }) })).output;
console.log(JSON.stringify(heard));
