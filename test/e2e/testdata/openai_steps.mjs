// Takes the steps of test/openaigo by OpenAI's own library for JavaScript, and prints what it heard, as JSON:
//   OPENAI_BASE_URL=… OPENAI_API_KEY=… node openai_steps.mjs NODE_MODULES [cut]
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, cut] = process.argv.slice(2);
const { default: OpenAI, toFile } = await import(pathToFileURL(join(modules, "openai/index.mjs")));
const client = new OpenAI();
const heard = { Tasks: [] };
const asked = (content) => ({ model: "gpt-5", messages: [{ role: "user", content }] });
const noted = (r) => (heard.Tasks.push(r.response.headers.get("x-task-id")), r.data);

async function chat() {
  heard.Greeting = noted(await client.chat.completions.create(asked("Greet me")).withResponse()).choices[0].message.content;
}

async function stream() {
  heard.Streamed = "";
  for await (const chunk of await client.chat.completions.create({ ...asked("Greet me"), stream: true })) {
    heard.Streamed += chunk.choices[0]?.delta.content ?? "";
    heard.Finish = chunk.choices[0]?.finish_reason ?? heard.Finish;
  }
}

async function tools() {
  const parameters = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
  const answer = await client.chat.completions.create({
    ...asked("What is the weather? In Lund."), tools: [{ type: "function", function: { name: "get_weather", parameters } }],
  });
  const [call] = answer.choices[0].message.tool_calls;
  heard.Tool = call.function.name;
  heard.Arguments = call.function.arguments;
}

async function schema() {
  const schema = { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false };
  const answer = await client.chat.completions.parse({
    ...asked("Name a town"), response_format: { type: "json_schema", json_schema: { name: "town", strict: true, schema } },
  });
  heard.Town = JSON.parse(answer.choices[0].message.content).town;
}

async function object() {
  const answer = await client.chat.completions.create({ ...asked("Name a river"), response_format: { type: "json_object" } });
  heard.Object = answer.choices[0].message.content;
}

async function embeddings() {
  heard.Dimensions = (await client.embeddings.create({ model: "text-embedding-3-small", input: "a red fox" })).data[0].embedding.length;
}

async function images() {
  const letters = (answer) => Buffer.from(answer.data[0].b64_json, "base64").toString("latin1").slice(1, 4);
  const made = await client.images.generate({ model: "gpt-image-2", prompt: "a red fox" });
  heard.Image = letters(made);
  const fox = () => toFile(Buffer.from(made.data[0].b64_json, "base64"), "fox.png", { type: "image/png" });
  heard.Edited = letters(await client.images.edit({
    model: "gpt-image-2", prompt: "Make it blue", image: [await fox(), await fox()], authorization: { person: "none" },
  }));
}

async function listen(recording) {
  const file = await toFile(recording, "gap.wav");
  heard.Transcript = noted(await client.audio.transcriptions.create({ model: "whisper-1", file }).withResponse()).text;
}

async function audio() {
  const spoken = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Mind the gap", response_format: "wav" });
  heard.Spoken = spoken.headers.get("content-type");
  await listen(Buffer.from(await spoken.arrayBuffer()));
}

const silence = () => listen(Buffer.concat([Buffer.from("524946464403000057415645666d74201000000001000100401f0000401f00000100080064617461" + "20030000", "hex"), Buffer.alloc(800, 0x80)]));

for (const step of cut ? [chat, silence] : [chat, stream, tools, schema, object, embeddings, images, audio]) {
  await step();
}
console.log(JSON.stringify(heard));
