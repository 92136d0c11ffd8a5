// The AI SDK over this library's provider, against a real service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  APICallError, embed, embedMany, experimental_generateVideo as generateVideo, generateImage, generateObject, generateSpeech, generateText,
  isStepCount, Output, rerank, streamText, tool, transcribe, uploadFile,
} from 'ai'
import { UnitaskError } from 'unitask'
import { createUnitask } from 'unitask/ai-sdk'
import { z } from 'zod'

globalThis.AI_SDK_LOG_WARNINGS = false
const unitask = createUnitask()
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const nobody = { unitask: { input: { authorization: { person: 'none' } } } }

/** Checks that metadata tells of the task. */
function told({ taskId, requestId, cost }) {
  assert.match(taskId, /^task_/)
  assert.match(requestId, /^req_/)
  assert.equal(cost.currency, 'USD')
}

test('generateText', async () => {
  const got = await generateText({ model: unitask('text.chat'), instructions: 'Be brief.', prompt: 'What is 12*7+1?', maxOutputTokens: 200 })
  assert.match(got.text, /85/)
  assert.equal(got.finishReason, 'stop')
  assert.ok(got.usage.inputTokens > 0 && got.usage.totalTokens === got.usage.inputTokens + got.usage.outputTokens)
  assert.match(got.finalStep.providerMetadata.unitask.taskId, /^task_/)
  assert.deepEqual(got.warnings ?? [], [])
  const short = await generateText({ model: unitask(), prompt: 'say one two three four five six seven eight', maxOutputTokens: 2 })
  assert.equal(short.finishReason, 'length')
})

test('settings that have no effect are warned about', async () => {
  const got = await generateText({
    model: unitask('text.chat'), prompt: 'hello', topK: 3, presencePenalty: 0.5, frequencyPenalty: 0.5, seed: 3, reasoning: 'xhigh',
    providerOptions: { unitask: { metadata: { team: 'ai' }, colour: 'red' } },
  })
  const told = got.warnings.map(({ type, feature }) => `${type} ${feature}`).sort()
  assert.deepEqual(told, [
    'compatibility reasoning', 'unsupported frequencyPenalty', 'unsupported presencePenalty', 'unsupported providerOptions.unitask.colour',
    'unsupported topK',
  ])
})

test('streamText', async () => {
  const stream = streamText({ model: unitask('text.chat'), prompt: 'say one two three four five' })
  const pieces = []
  for await (const piece of stream.textStream) pieces.push(piece)
  assert.match(pieces.join(''), /one two three four five/)
  assert.ok(pieces.length > 2)
  assert.equal(await stream.finishReason, 'stop')
  assert.ok((await stream.usage).totalTokens > 0)
})

test('thoughts', async () => {
  const { reasoningText, text } = await generateText({ model: unitask(), prompt: 'hello', reasoning: 'low' })
  assert.ok(reasoningText && text)
  const stream = streamText({ model: unitask(), prompt: 'hello', reasoning: 'low' })
  assert.equal(await stream.reasoningText, reasoningText)
  assert.equal(await stream.text, text)
})

const weather = () => {
  const called = []
  const get_weather = tool({
    description: 'Tells the weather of a town.',
    inputSchema: z.object({ town: z.string() }),
    execute: (input) => (called.push(input), { sky: 'rain' }),
  })
  return { called, options: { model: unitask(), prompt: 'What is the weather in Lund?', tools: { get_weather }, stopWhen: isStepCount(5) } }
}

test('tools in a loop', async () => {
  const { called, options } = weather()
  const { text, steps } = await generateText(options)
  assert.match(text, /rain/)
  assert.equal(steps.length, 2)
  assert.equal(steps[0].finishReason, 'tool-calls')
  assert.equal(typeof called[0].town, 'string')
  const { options: again, called: streamed } = weather()
  const stream = streamText({ ...again, reasoning: 'low' })
  assert.match(await stream.text, /rain/)
  assert.equal(streamed.length, 1)
  const forced = await generateText({ ...weather().options, prompt: 'hello', toolChoice: { type: 'tool', toolName: 'get_weather' }, stopWhen: isStepCount(1) })
  assert.equal(forced.toolCalls[0].toolName, 'get_weather')
})

test('strict tools', async () => {
  const { options } = weather()
  const strict = (inputSchema) => generateText({ ...options, tools: { get_weather: { ...options.tools.get_weather, strict: true, inputSchema } }, stopWhen: isStepCount(1) })
  const { toolCalls, warnings } = await strict(options.tools.get_weather.inputSchema)
  assert.equal(typeof toolCalls[0].input.town, 'string')
  assert.deepEqual(warnings ?? [], [])
  await assert.rejects(strict(z.object({ town: z.string().optional() })), (error) => APICallError.isInstance(error) && /parameters\.tools\.0\.parameters/.test(error.message))
})

const town = z.object({ town: z.string(), people: z.number() })

test('objects', async () => {
  const { object } = await generateObject({ model: unitask(), schema: town, prompt: 'A town, please.' })
  assert.equal(typeof object.town, 'string')
  const { output } = await generateText({ model: unitask(), output: Output.object({ schema: town }), prompt: 'A town, please.' })
  assert.equal(typeof output.people, 'number')
  const stream = streamText({ model: unitask(), output: Output.array({ element: town }), prompt: 'Towns, please.' })
  assert.ok(Array.isArray(await stream.output))
  const optional = generateObject({ model: unitask(), schema: z.object({ town: z.string().optional() }), prompt: 'A town.' })
  await assert.rejects(optional, (error) => APICallError.isInstance(error) && /output_schema/.test(error.message))
  const { output: free, warnings } = await generateText({ model: unitask(), output: Output.json(), prompt: 'What is 12*7+1?' })
  assert.deepEqual(free, { answer: '12*7+1 = 85' })
  assert.deepEqual(warnings.map(({ feature }) => feature), ['responseFormat'])
})

test('files', async () => {
  const ask = (file) => generateText({ model: unitask(), messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, file] }] })
  assert.ok((await ask({ type: 'file', data: pixel, mediaType: 'image/png' })).text)
  assert.ok((await ask({ type: 'file', data: Buffer.from('Hello.'), mediaType: 'text/plain' })).text)
  await assert.rejects(ask({ type: 'file', data: Buffer.from('PK'), mediaType: 'application/zip' }), { name: 'AI_UnsupportedFunctionalityError' })
  const named = await ask({ type: 'file', data: pixel, mediaType: 'image/png', filename: 'dot.png' })
  assert.equal(named.warnings[0].feature, 'filename')
})

test('a file that goes ahead is referred to', async () => {
  const data = new TextEncoder().encode('Hello, '.repeat(1000))
  const sent = await uploadFile({ api: unitask, data, mediaType: 'text/plain' })
  assert.match(sent.providerReference.unitask, /^art_/)
  const file = { type: 'file', data: sent.providerReference, mediaType: 'text/plain' }
  assert.ok((await generateText({ model: unitask(), messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, file] }] })).text)
})

test('embeddings and rankings', async () => {
  const model = unitask.embeddingModel('text.embed')
  const { embeddings, usage, providerMetadata } = await embedMany({ model, values: ['a red fox', 'a crimson fox'], providerOptions: { unitask: { parameters: { dimensions: 8 } } } })
  assert.deepEqual(embeddings.map((vector) => vector.length), [8, 8])
  assert.ok(usage.tokens > 0)
  told(providerMetadata.unitask)
  assert.equal((await embed({ model, value: 'a red fox' })).embedding.length, 256)
  const { ranking, providerMetadata: ranked } = await rerank({ model: unitask.reranking(), query: 'owls at night', documents: ['Bees gather nectar.', 'Owls hunt at night.'] })
  assert.equal(ranking[0].originalIndex, 1)
  told(ranked.unitask)
})

test('images', async () => {
  const { images, providerMetadata } = await generateImage({ model: unitask.image('image.generate'), prompt: 'a red fox', n: 2, size: '256x256' })
  assert.equal(images.length, 2)
  assert.equal(images[0].mediaType, 'image/png')
  assert.equal(providerMetadata.unitask.images[0].width, 256)
  assert.equal(providerMetadata.unitask.images.length, 2)
  for (const about of providerMetadata.unitask.images) told(about)
  assert.equal(providerMetadata.unitask.images[0].taskId, providerMetadata.unitask.images[1].taskId)
  const edited = await generateImage({ model: unitask.image('image.edit'), prompt: { text: 'make it blue', images: [images[0].uint8Array] }, providerOptions: nobody })
  assert.equal(edited.image.mediaType, 'image/png')
  const unsaid = generateImage({ model: unitask.image('image.edit'), prompt: { text: 'make it blue', images: [pixel] } })
  await assert.rejects(unsaid, (error) => error.cause instanceof UnitaskError && error.cause.code === 'AUTHORIZATION_REQUIRED')
  const pictured = generateImage({ model: unitask.image('image.generate'), prompt: { text: 'x', images: [pixel] } })
  await assert.rejects(pictured, { name: 'AI_UnsupportedFunctionalityError' })
})

test('speech and its transcript', async () => {
  const { audio, warnings, providerMetadata } = await generateSpeech({ model: unitask.speech(), text: 'The train leaves at nine.', outputFormat: 'wav', language: 'en' })
  assert.equal(audio.mediaType, 'audio/wav')
  told(providerMetadata.unitask)
  assert.deepEqual(warnings.map(({ feature }) => feature), ['language'])
  const options = { model: unitask.transcription(), audio: audio.uint8Array }
  const heard = await transcribe(options)
  assert.match(heard.text, /train leaves at nine/)
  told(heard.providerMetadata.unitask)
  const timed = await transcribe({ ...options, providerOptions: { unitask: { parameters: { timestamps: 'segment' } } } })
  assert.ok(timed.segments[0].endSecond > timed.segments[0].startSecond)
})

test('video', async () => {
  const { video, warnings, providerMetadata } = await generateVideo({
    model: unitask.video('video.generate'), prompt: 'Waves at dusk', duration: 1, resolution: '1280x720', fps: 24, poll: { intervalMs: 2000 },
  })
  assert.match(Buffer.from(video.uint8Array.subarray(4, 8)).toString(), /ftyp/)
  told(providerMetadata.unitask)
  assert.deepEqual(warnings.map(({ feature }) => feature), ['fps'])
  const failed = generateVideo({ model: unitask.video(), prompt: '@fail:CONTENT_POLICY_VIOLATION', poll: { intervalMs: 100 } })
  await assert.rejects(failed, /CONTENT_POLICY_VIOLATION/)
})

test('failures are of the AI SDK, and cost no second task', async () => {
  let requests = 0
  const counting = createUnitask({ fetch: (...args) => (requests++, fetch(...args)), sleep: () => Promise.resolve() })
  const failure = await generateText({ model: counting(), prompt: '@fail:PROVIDER_UNAVAILABLE' }).catch((error) => error)
  assert.ok(APICallError.isInstance(failure))
  assert.equal(failure.isRetryable, false)
  assert.equal(failure.statusCode, 502)
  assert.equal(failure.data.code, 'PROVIDER_UNAVAILABLE')
  assert.equal(requests, 3)
  assert.ok(!JSON.stringify(failure).includes('@fail'))
  const unknown = await generateText({ model: unitask('gpt-5'), prompt: 'hello' }).catch((error) => error)
  assert.match(unknown.message, /INVALID_REQUEST/)
  const told = []
  const stream = streamText({ model: counting(), prompt: '@fail:CONTENT_POLICY_VIOLATION', onError: ({ error }) => told.push(error.data.code) })
  await stream.consumeStream()
  assert.deepEqual(told, ['CONTENT_POLICY_VIOLATION'])
})

test('an abort cancels the task', async () => {
  const abort = new AbortController()
  const ids = []
  const listening = createUnitask({
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      const id = response.headers.get('location')?.split('/').at(-1)
      if (id) ids.push(id), setTimeout(() => abort.abort(), 200)
      return response
    },
  })
  const stream = streamText({ model: listening(), prompt: '@slow:1h hello', abortSignal: abort.signal })
  await stream.consumeStream()
  const client = new (await import('unitask')).Unitask()
  assert.equal((await client.wait(ids[0], { signal: AbortSignal.timeout(60_000) })).state, 'canceled')
})
