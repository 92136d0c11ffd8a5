// Calls the service by OpenAI's own library, and prints what it heard, as JSON:
//   OPENAI_BASE_URL=… OPENAI_API_KEY=… node openai.mjs NODE_MODULES
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(join(modules, "openai/index.mjs")));
const { zodFunction, zodResponseFormat } = await import(pathToFileURL(join(modules, "openai/helpers/zod.mjs")));
const { z } = await import(pathToFileURL(join(modules, "zod/index.js")));
const client = new OpenAI();
const heard = {};

heard.models = (await client.models.list()).data.map((m) => m.id);
heard.model = (await client.models.retrieve("text.chat")).id;

const user = (content) => [{ role: "developer", content: "Be brief." }, { role: "user", content }];
const chat = await client.chat.completions.create({ model: "text.chat", messages: user("What is 12*7+1?"), max_completion_tokens: 200 }).withResponse();
heard.chat = chat.data;
heard.task = chat.response.headers.get("x-task-id");

const stream = await client.chat.completions.create({
  model: "text.chat", messages: user("say one two three four five"), stream: true, stream_options: { include_usage: true },
});
heard.stream = { text: "", chunks: 0 };
for await (const chunk of stream) {
  heard.stream.chunks++;
  heard.stream.text += chunk.choices[0]?.delta.content ?? "";
  heard.stream.finish = chunk.choices[0]?.finish_reason ?? heard.stream.finish;
  heard.stream.usage = chunk.usage ?? heard.stream.usage;
}

// The library's own loop: it calls the function, sends the result and the messages back, and gets the answer.
heard.called = [];
const tool = {
  type: "function",
  function: {
    name: "get_weather", description: "Tells the weather of a town.", parse: JSON.parse,
    parameters: { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false },
    function: (given) => (heard.called.push(given), "rain"),
  },
};
const loop = { model: "text.chat", messages: [{ role: "user", content: "What is the weather in Lund?" }], tools: [tool] };
heard.loop = await client.chat.completions.runTools(loop).finalContent();
heard.streamedLoop = await client.chat.completions.runTools({ ...loop, stream: true }).finalContent();

const schema = { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false };
const parsed = await client.chat.completions.parse({
  model: "text.chat", messages: user("A town, please."), response_format: { type: "json_schema", json_schema: { name: "town", strict: true, schema } },
});
heard.json = JSON.parse(parsed.choices[0].message.content);

// The same by zod, of which the library makes a schema of draft 7.
const town = z.object({ town: z.string() });
const byZod = { model: "text.chat", messages: user("A town, please."), response_format: zodResponseFormat(town, "town") };
heard.zod = (await client.chat.completions.parse(byZod)).choices[0].message.parsed;
const tooled = { ...loop, tools: [zodFunction({ name: "get_weather", parameters: town, function: () => "rain" })] };
heard.zodLoop = await client.chat.completions.runTools(tooled).finalContent();

// JSON mode, as programs used it before there were schemas.
const freely = { model: "text.chat", messages: user("What is 12*7+1?"), response_format: { type: "json_object" } };
heard.freely = JSON.parse((await client.chat.completions.create(freely)).choices[0].message.content);
heard.freelyStreamed = JSON.parse(await client.chat.completions.stream(freely).finalContent());

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const seen = await client.chat.completions.create({
  model: "text.chat",
  messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, { type: "image_url", image_url: { url: "data:image/png;base64," + pixel } }] }],
});
heard.image = seen.choices[0].message.content;

const input = ["a red fox", "a crimson fox"];
const packed = await client.embeddings.create({ model: "text.embed", input, dimensions: 8 }); // by default in base64
const plain = await client.embeddings.create({ model: "text.embed", input, dimensions: 8, encoding_format: "float" });
heard.embeddings = packed.data.map((e) => Array.from(e.embedding));
heard.plain = plain.data.map((e) => e.embedding);
heard.embeddingTokens = packed.usage.prompt_tokens;

let requests = 0;
const fetchCounted = (...args) => (requests++, fetch(...args));
const counted = new OpenAI({ fetch: fetchCounted, maxRetries: 2 });
const failure = async (call) => {
  requests = 0;
  try {
    await call();
    return { status: 200, requests };
  } catch (e) {
    return { name: e.constructor.name, status: e.status, code: e.code, param: e.param, service: e.error?.service_code, task: e.headers?.get("x-task-id"), requests };
  }
};
const hello = { model: "text.chat", messages: user("hello") };
const withKey = (messages) => counted.chat.completions.create({ ...hello, messages }, { headers: { "Idempotency-Key": "openai-e2e-1" } });
await withKey(user("hello"));
heard.failures = {
  model: await failure(() => counted.chat.completions.create({ ...hello, model: "gpt-5" })),
  key: await failure(() => new OpenAI({ apiKey: "svc_test_wrong", fetch: fetchCounted }).chat.completions.create(hello)),
  member: await failure(() => counted.chat.completions.create({ ...hello, n: 2 })),
  conflict: await failure(() => withKey(user("good bye"))),
  path: await failure(() => counted.completions.create({ model: "text.chat", prompt: "hello" })),
  policy: await failure(() => counted.chat.completions.create({ ...hello, messages: user("@fail:CONTENT_POLICY_VIOLATION") })),
  outage: await failure(() => counted.chat.completions.create({ ...hello, messages: user("@fail:PROVIDER_UNAVAILABLE") })),
};

// The client gives up on its first request, and the library retries by itself.
const impatient = new OpenAI({ timeout: 1500, maxRetries: 2, fetch: fetchCounted });
requests = 0;
const late = await impatient.chat.completions.create({ ...hello, messages: user("@slow:2s hello late") }).withResponse();
heard.late = { requests, task: late.response.headers.get("x-task-id"), replayed: late.response.headers.get("idempotent-replayed") };
console.log(JSON.stringify(heard));
