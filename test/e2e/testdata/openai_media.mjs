// Makes, edits, speaks, hears and judges by OpenAI's own library, and prints what it heard, as JSON:
//   OPENAI_BASE_URL=… OPENAI_API_KEY=… node openai_media.mjs NODE_MODULES
import { createReadStream, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const { default: OpenAI, toFile } = await import(pathToFileURL(join(modules, "openai/index.mjs")));
let requests = 0;
const fetchCounted = (...args) => (requests++, fetch(...args));
const client = new OpenAI({ fetch: fetchCounted });
const heard = {};
const bytesOf = (image) => Buffer.from(image.b64_json, "base64");

heard.models = (await client.models.list()).data.map((m) => m.id);

const made = await client.images.generate({ model: "gpt-image-2", prompt: "a red fox", n: 2, size: "64x64" }).withResponse();
heard.images = made.data.data.map((image) => bytesOf(image).toString("latin1").slice(1, 4));
heard.task = made.response.headers.get("x-task-id");
const linked = await client.images.generate({ model: "gpt-image-2", prompt: "a red fox", size: "64x64", response_format: "url" });
heard.linked = Buffer.from(await (await fetch(linked.data[0].url)).arrayBuffer()).toString("latin1").slice(1, 4);

writeFileSync("fox.png", bytesOf(made.data.data[0]));
const fox = () => toFile(bytesOf(made.data.data[1]), "fox.png", { type: "image/png" });
const blue = { model: "gpt-image-2", prompt: "Make it blue", size: "64x64" };
const authorization = { person: "none" };
heard.edited = (await client.images.edit({ ...blue, image: createReadStream("fox.png"), authorization })).data.length;
heard.combined = (await client.images.edit({ ...blue, image: [await fox(), await fox()], mask: await fox(), n: 2, authorization })).data.length;

const spoken = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "The train leaves at nine.", response_format: "wav" });
heard.spoken = spoken.headers.get("content-type");
const recording = Buffer.from(await spoken.arrayBuffer());
const file = () => toFile(recording, "train.wav");
heard.transcript = (await client.audio.transcriptions.create({ model: "whisper-1", file: await file() })).text;
heard.subtitles = await client.audio.transcriptions.create({ model: "whisper-1", file: await file(), response_format: "srt" });
const verbose = await client.audio.transcriptions.create({
  model: "whisper-1", file: await file(), language: "en", prompt: "trains", response_format: "verbose_json", timestamp_granularities: ["word", "segment"],
});
heard.verbose = { language: verbose.language, segments: verbose.segments.length, words: verbose.words.length, duration: verbose.duration };
heard.translation = (await client.audio.translations.create({ model: "whisper-1", file: await file() })).text;

const judged = await client.moderations.create({ model: "omni-moderation-latest", input: ["What a lovely morning.", "I will kill you."] });
heard.judged = judged.results.map((r) => r.flagged && r.categories.violence);

const failure = async (call) => {
  requests = 0;
  try {
    await call();
    return { status: 200, requests };
  } catch (e) {
    return { name: e.constructor.name, status: e.status, code: e.code, param: e.param, service: e.error?.service_code, requests };
  }
};
heard.failures = {
  authorization: await failure(async () => client.images.edit({ ...blue, image: await fox() })),
  stream: await failure(() => client.images.generate({ model: "gpt-image-2", prompt: "a red fox", stream: true, partial_images: 2 })),
  model: await failure(() => client.images.generate({ model: "dall-e-3", prompt: "a red fox" })),
  policy: await failure(() => client.images.generate({ model: "gpt-image-2", prompt: "@fail:CONTENT_POLICY_VIOLATION" })),
};

// The client gives up on its first request, and the library retries by itself, with another boundary.
const impatient = new OpenAI({ timeout: 1500, maxRetries: 2, fetch: fetchCounted });
requests = 0;
const late = await impatient.images.edit({ ...blue, prompt: "@slow:2s Make it blue", image: await fox(), authorization }).withResponse();
heard.late = { requests, task: late.response.headers.get("x-task-id"), replayed: late.response.headers.get("idempotent-replayed"), images: late.data.data.length };
console.log(JSON.stringify(heard));
