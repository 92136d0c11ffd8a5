// An agent's loop: the model calls functions of this program until it has an answer. Node 18 or later, without packages.
const base = process.env.UNITASK_BASE_URL ?? "http://127.0.0.1:8420";
const key = process.env.UNITASK_API_KEY;

const functions = {
  find_town: ({ name }) => ({ town: name, country: "Sweden" }),
  get_weather: ({ town }) => ({ town, sky: "rain", degrees: 12 }),
};
const text = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
const tools = [
  { name: "find_town", description: "Finds a town.", parameters: text("name") },
  { name: "get_weather", description: "Tells the weather of a town.", parameters: text("town") },
];

const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function send(method, path, headers, body) {
  const answer = await fetch(base + path, { method, body, headers: { Authorization: `Bearer ${key}`, ...headers } });
  const value = await answer.json();
  if (answer.ok) return { task: value };
  if (!value.error.retryable) throw new Error(`${value.error.code}: ${value.error.message}`);
  return { pause: value.error.retry_after_seconds };
}

// One turn is one task. Its key is made once, so that a request that is sent again costs nothing more.
async function ask(messages) {
  const body = JSON.stringify({
    capability: "text.chat",
    input: { messages },
    parameters: { tools, reasoning: "low", max_output_tokens: 4000 },
  });
  const headers = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
  let { task, pause } = await send("POST", "/api/ai/v1/tasks", headers, body);
  for (let tries = 0; !task && tries < 4; tries++) {
    await sleep(pause);
    ({ task, pause } = await send("POST", "/api/ai/v1/tasks", headers, body));
  }
  while (task && !task.output && !task.error) {
    await sleep(2);
    ({ task = task } = await send("GET", `/api/ai/v1/tasks/${task.id}`, {}));
  }
  if (!task?.output) throw new Error("no answer");
  return task.output;
}

// A call that doesn't fit its tool goes back to the model, which may do better.
const call = (one) =>
  one.invalid ? "These arguments don't fit the tool." : JSON.stringify(functions[one.name](one.arguments));

const messages = [{ role: "user", content: process.argv.slice(2).join(" ") }];
for (let turn = 0; turn < 10; turn++) {
  const output = await ask(messages);
  if (output.finish_reason !== "tool_calls") {
    console.log(output.text);
    break;
  }
  messages.push({ role: "assistant", content: output.text, tool_calls: output.tool_calls, state: output.state });
  for (const one of output.tool_calls) messages.push({ role: "tool", tool_call_id: one.id, content: call(one) });
}
