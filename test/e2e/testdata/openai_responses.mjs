// Calls the service's responses by OpenAI's own library, and prints what it heard, as JSON:
//   OPENAI_BASE_URL=… OPENAI_API_KEY=… node openai_responses.mjs NODE_MODULES
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(join(modules, "openai/index.mjs")));
const client = new OpenAI();
const model = "text.chat";
const heard = {};

const first = await client.responses.create({ model, instructions: "Be brief.", input: "What is 12*7+1?", max_output_tokens: 200, metadata: { team: "search" } }).withResponse();
heard.first = first.data;
heard.task = first.response.headers.get("x-task-id");
heard.again = await client.responses.retrieve(first.data.id);

// The library's own reader of events, which adds them up to the response.
const stream = client.responses.stream({ model, input: [{ role: "user", content: "say one two three four five" }] });
heard.events = {};
for await (const event of stream) {
  heard.events[event.type] = (heard.events[event.type] ?? 0) + 1;
}
heard.streamed = (await stream.finalResponse()).output_text;
heard.toldAgain = (await client.responses.stream({ response_id: (await stream.finalResponse()).id }).finalResponse()).output_text;

// A loop of tools: the answer's items go back as they came, with the function's result behind.
const tools = [{
  type: "function", name: "get_weather", description: "Tells the weather of a town.", strict: true,
  parameters: { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false },
}];
heard.called = [];
const loop = async (ask) => {
  const input = [{ role: "user", content: "What is the weather in Lund?" }];
  for (let turns = 0; turns < 4; turns++) {
    const answer = await ask({ model, tools, input });
    const calls = answer.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return answer.output_text;
    input.push(...answer.output);
    for (const call of calls) {
      heard.called.push(JSON.parse(call.arguments));
      input.push({ type: "function_call_output", call_id: call.call_id, output: "rain" });
    }
  }
};
heard.loop = await loop((body) => client.responses.create(body));
heard.streamedLoop = await loop((body) => client.responses.stream(body).finalResponse());

const schema = { type: "object", properties: { town: { type: "string" } }, required: ["town"], additionalProperties: false };
const parsed = await client.responses.parse({ model, input: "A town, please.", text: { format: { type: "json_schema", name: "town", strict: true, schema } } });
heard.json = JSON.parse(parsed.output_text);
const free = await client.responses.create({ model, input: "What is 12*7+1?", text: { format: { type: "json_object" } } });
heard.freely = { ...JSON.parse(free.output_text), format: free.text.format.type };

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const seen = await client.responses.create({
  model,
  input: [{ role: "user", content: [{ type: "input_text", text: "What is this?" }, { type: "input_image", detail: "auto", image_url: "data:image/png;base64," + pixel }] }],
});
heard.image = seen.output_text;

const searched = await client.responses.create({ model, input: "What is new?", tools: [{ type: "web_search" }], include: ["web_search_call.action.sources"] });
heard.citations = searched.output.flatMap((item) => item.content ?? []).flatMap((part) => part.annotations ?? []).length;

// In the background: the response at once, until its end; another is ended before its time.
let queued = await client.responses.create({ model, input: "@slow:1s hello there", background: true });
heard.atFirst = queued.status;
while (queued.status === "queued" || queued.status === "in_progress") {
  await new Promise((soon) => setTimeout(soon, 50));
  queued = await client.responses.retrieve(queued.id);
}
heard.atLast = { status: queued.status, text: queued.output_text };
const long = await client.responses.create({ model, input: "@slow:60s hello there", background: true });
heard.canceled = (await client.responses.cancel(long.id)).status;
const failing = await client.responses.create({ model, input: "@fail:CONTENT_POLICY_VIOLATION", background: true });
let failed = failing;
while (failed.status === "queued" || failed.status === "in_progress") {
  await new Promise((soon) => setTimeout(soon, 50));
  failed = await client.responses.retrieve(failing.id);
}
heard.failed = { status: failed.status, error: failed.error };

let requests = 0;
const counted = new OpenAI({ fetch: (...args) => (requests++, fetch(...args)), maxRetries: 2 });
const failure = async (call) => {
  requests = 0;
  try {
    await call();
    return { status: 200, requests };
  } catch (e) {
    return { name: e.constructor.name, status: e.status, code: e.code, param: e.param, service: e.error?.service_code, task: e.headers?.get("x-task-id"), requests };
  }
};
heard.failures = {
  previous: await failure(() => counted.responses.create({ model, input: "hello", previous_response_id: first.data.id })),
  model: await failure(() => counted.responses.create({ model: "gpt-5", input: "hello" })),
  unknown: await failure(() => counted.responses.retrieve("resp_none")),
  deletion: await failure(() => counted.responses.delete(first.data.id)),
  outage: await failure(() => counted.responses.create({ model, input: "@fail:PROVIDER_UNAVAILABLE" })),
};

// The client gives up on its first request, and the library retries by itself.
requests = 0;
const impatient = new OpenAI({ timeout: 1500, maxRetries: 2, fetch: (...args) => (requests++, fetch(...args)) });
const late = await impatient.responses.create({ model, input: "@slow:2s hello late" }).withResponse();
heard.late = { requests, task: late.response.headers.get("x-task-id"), replayed: late.response.headers.get("idempotent-replayed") };
console.log(JSON.stringify(heard));
