// Calls the service by Anthropic's own library, and prints what it heard, as JSON:
//   ANTHROPIC_BASE_URL=… ANTHROPIC_API_KEY=… node anthropic.mjs NODE_MODULES
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const { default: Anthropic } = await import(pathToFileURL(join(modules, "@anthropic-ai/sdk/index.mjs")));
const client = new Anthropic();
const heard = { models: [] };
const hello = { model: "text.chat", max_tokens: 300, messages: [{ role: "user", content: "hello" }] };
const asking = (content, more) => ({ ...hello, messages: [{ role: "user", content }], ...more });
const said = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");

for await (const model of client.models.list({ limit: 1 })) heard.models.push(model.id); // page by page
heard.model = (await client.models.retrieve("text.chat")).id;
heard.before = (await client.models.list({ before_id: heard.models.at(-1), limit: 1 })).data.map((m) => m.id);

const chat = await client.messages.create(asking("What is 12*7+1?", { system: "Be brief.", stop_sequences: ["END"], metadata: { user_id: "u" } })).withResponse();
heard.chat = chat.data;
heard.task = chat.response.headers.get("x-task-id");

heard.stream = { text: "", events: 0 };
const stream = client.messages.stream(asking("say one two three four five"));
for await (const event of stream) heard.stream.events++;
const whole = await stream.finalMessage();
heard.stream = { ...heard.stream, text: said(whole), finish: whole.stop_reason, usage: whole.usage };

const input_schema = { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false };
const tools = [{ name: "get_weather", description: "Tells the weather of a town.", input_schema }];
const question = asking("What is the weather in Lund?", { tools });
const forced = await client.messages.create({ ...question, tool_choice: { type: "tool", name: "get_weather" } });
const call = forced.content.find((b) => b.type === "tool_use");
heard.called = [call.input];
heard.stopped = forced.stop_reason;
const answered = [
  ...question.messages, { role: "assistant", content: forced.content },
  { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "rain" }] },
];
heard.round = said(await client.messages.create({ ...question, messages: answered }));

// The library's own loop, streamed: it calls the function, sends the result back, and gets the answer.
const tool = { type: "custom", ...tools[0], parse: (given) => given, run: (given) => (heard.called.push(given), "rain") };
heard.loop = said(await client.beta.messages.toolRunner({ ...question, tools: [tool] }).runUntilDone());

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
heard.image = said(await client.messages.create(asking([
  { type: "text", text: "What is this?" }, { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
])));
heard.document = said(await client.messages.create(asking([
  { type: "document", source: { type: "text", media_type: "text/plain", data: "The fox is red." } }, { type: "text", text: "What colour has the fox?" },
])));

const { max_tokens, ...counted } = asking("hello");
heard.tokens = (await client.messages.countTokens(counted)).input_tokens;

let requests = 0;
const fetchCounted = (...args) => (requests++, fetch(...args));
const client2 = new Anthropic({ fetch: fetchCounted, maxRetries: 2 });
const failure = async (call) => {
  requests = 0;
  try {
    await call();
    return { status: 200, requests };
  } catch (e) {
    const error = e.error?.error;
    return {
      name: e.constructor.name, status: e.status, type: error?.type, param: error?.param, service: error?.service_code,
      task: e.headers?.get("x-task-id"), id: e.requestID === e.error?.request_id && !!e.requestID, requests,
    };
  }
};
const withKey = (content) => client2.messages.create(asking(content), { headers: { "Idempotency-Key": "anthropic-e2e-1" } });
await withKey("hello");
heard.failures = {
  model: await failure(() => client2.messages.create({ ...hello, model: "claude-5" })),
  key: await failure(() => new Anthropic({ apiKey: "svc_test_wrong", fetch: fetchCounted }).messages.create(hello)),
  member: await failure(() => client2.messages.create({ ...hello, top_k: 2 })),
  version: await failure(() => client2.messages.create(hello, { headers: { "anthropic-version": "2030-01-01" } })),
  conflict: await failure(() => withKey("good bye")),
  path: await failure(() => client2.messages.batches.list()),
  policy: await failure(() => client2.messages.create(asking("@fail:CONTENT_POLICY_VIOLATION"))),
  outage: await failure(() => client2.messages.create(asking("@fail:PROVIDER_UNAVAILABLE"))),
};
console.log(JSON.stringify(heard));
