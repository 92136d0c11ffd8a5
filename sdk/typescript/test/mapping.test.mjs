// What the provider for the AI SDK makes of calls and answers, member for member.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUnitask } from 'unitask/ai-sdk'

/** A provider whose service gives one answer, and the requests that it gets. */
function provided(output = { text: 'Yes.', finish_reason: 'stop' }, more = {}) {
  const bodies = []
  const fetch = async (url, init) => {
    if (init.body) bodies.push(JSON.parse(init.body))
    const created_at = '2026-01-01T00:00:00.000Z'
    return Response.json({ id: 'task_1', capability: 'text.chat', state: 'succeeded', created_at, output, error: null, usage: null, request_id: 'req_1', ...more })
  }
  return { unitask: createUnitask({ baseUrl: 'http://service.test', apiKey: 'x', fetch }), bodies }
}

const user = (...content) => [{ role: 'user', content }]
const text = (text) => ({ type: 'text', text })

test('a conversation', async () => {
  const { unitask, bodies } = provided()
  const ours = { providerOptions: { unitask: { state: 'remembered' } } }
  const { warnings } = await unitask().doGenerate({
    prompt: [
      { role: 'system', content: 'Be brief.' },
      ...user(
        text('Look.'),
        { type: 'file', mediaType: 'image/*', data: { type: 'data', data: new Uint8Array([0xff, 0xd8, 0xff, 0]) } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
        { type: 'file', mediaType: 'audio/wav', data: { type: 'reference', reference: { unitask: 'art_00000001', other: 'x' } } },
        { type: 'file', mediaType: 'text', data: { type: 'text', text: 'Grüße' } },
        { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url: new URL('data:application/pdf;base64,JVBERg==') } },
      ),
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { unitask: {} } },
          { type: 'reasoning', text: 'Another model thought.' },
          text('Well.'),
          { type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: { a: 1 } },
          { type: 'tool-call', toolCallId: 'call_2', toolName: 'add', input: 'not JSON', ...ours },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: 'add', output: { type: 'json', value: { sum: 1 } } },
          { type: 'tool-result', toolCallId: 'call_2', toolName: 'add', output: { type: 'execution-denied' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_3', toolName: 'add', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_3', toolName: 'add', output: { type: 'content', value: [text('a'), text('b')] } }] },
    ],
  })
  assert.deepEqual(bodies[0], {
    capability: 'text.chat',
    parameters: {},
    input: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image', image: { data: '/9j/AA==', content_type: 'image/jpeg' } },
            { type: 'image', image: { url: 'https://example.com/a.png' } },
            { type: 'audio', audio: { artifact: 'art_00000001' } },
            { type: 'document', document: { data: Buffer.from('Grüße').toString('base64'), content_type: 'text/plain' } },
            { type: 'document', document: { data: 'JVBERg==', content_type: 'application/pdf' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Well.',
          state: 'remembered',
          tool_calls: [{ id: 'call_1', name: 'add', arguments: { a: 1 } }, { id: 'call_2', name: 'add', arguments: 'not JSON' }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '{"sum":1}' },
        { role: 'tool', tool_call_id: 'call_2', content: 'The tool was not allowed to run.' },
        { role: 'assistant', tool_calls: [{ id: 'call_3', name: 'add', arguments: {} }] },
        { role: 'tool', tool_call_id: 'call_3', content: 'a\nb' },
      ],
    },
  })
  assert.deepEqual(warnings.map(({ feature }) => feature), ['reasoning parts of other providers'])
})

test('settings', async () => {
  const { unitask, bodies } = provided()
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const { warnings } = await unitask('text.chat.fast').doGenerate({
    prompt: user(text('hello')), maxOutputTokens: 9, temperature: 0, topP: 0.5, stopSequences: ['x'], seed: 1, presencePenalty: 0, reasoning: 'minimal',
    responseFormat: { type: 'json', name: 'town', description: 'A town.', schema: { $schema, type: 'object', properties: {} } },
    tools: [
      { type: 'function', name: 'add', description: 'Adds.', inputSchema: { $schema, type: 'object' }, strict: true, inputExamples: [{ input: {} }] },
      { type: 'provider', id: 'other.search', name: 'search', args: {} },
    ],
    toolChoice: { type: 'tool', toolName: 'add' },
    providerOptions: { unitask: { input: { system: 'x' }, parameters: { web_search: true }, metadata: { team: 'a' } }, other: { x: 1 } },
  })
  assert.deepEqual(bodies[0], {
    capability: 'text.chat.fast',
    input: { messages: [{ role: 'user', content: 'hello' }], system: 'x' },
    parameters: {
      max_output_tokens: 9, temperature: 0, top_p: 0.5, stop: ['x'], seed: 1, reasoning: 'low', web_search: true, tool_choice: 'add',
      output_schema: { title: 'town', description: 'A town.', type: 'object', properties: {} },
      tools: [{ name: 'add', description: 'Adds.', parameters: { type: 'object' }, strict: true }],
    },
    metadata: { team: 'a' },
  })
  assert.deepEqual(warnings.map(({ feature }) => feature), [
    'reasoning', 'inputExamples of tool add', 'provider-defined tool other.search',
  ])
})

test('parts that no request can have', async () => {
  const { unitask, bodies } = provided()
  const file = (mediaType, data = { type: 'data', data: 'AAAA' }) => user({ type: 'file', mediaType, data })
  const assistant = (part) => [{ role: 'assistant', content: [part] }]
  const output = { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }] }
  const prompts = [
    file('video/mp4'), file('image/*'), file('image/png', { type: 'url', url: new URL('ftp://example.com/a.png') }),
    file('image/png', { type: 'reference', reference: { other: 'x' } }), assistant({ type: 'custom', kind: 'other.x' }),
    assistant({ type: 'tool-call', toolCallId: 'c', toolName: 't', input: {}, providerExecuted: true }),
    [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output }] }],
  ]
  for (const prompt of prompts) await assert.rejects(unitask().doGenerate({ prompt }), { name: 'AI_UnsupportedFunctionalityError' }, JSON.stringify(prompt))
  const tools = [{ type: 'function', name: 'none', inputSchema: {} }]
  await assert.rejects(unitask().doGenerate({ prompt: user(text('x')), tools, toolChoice: { type: 'tool', toolName: 'none' } }), { name: 'AI_UnsupportedFunctionalityError' })
  assert.deepEqual(bodies, [])
})

const answer = {
  text: 'Rain.', reasoning: 'Hm.', finish_reason: 'tool_calls', state: 'remember', citations: [{ url: 'https://example.com/', title: 'A page', text: 'rain' }],
  tool_calls: [{ id: 'call_1', name: 'add', arguments: { a: 1 } }, { id: 'call_2', name: 'add', arguments: '{' }],
}
const usage = { input_tokens: 10, output_tokens: 7, cached_input_tokens: 3, cache_write_tokens: 2, reasoning_tokens: 4, cost: { currency: 'USD', amount: '0.1' } }
const counts = {
  inputTokens: { total: 10, noCache: 5, cacheRead: 3, cacheWrite: 2 }, outputTokens: { total: 7, text: 3, reasoning: 4 }, raw: usage,
}
const call = (toolCallId, input, unitask) => ({ type: 'tool-call', toolCallId, toolName: 'add', input, providerMetadata: { unitask } })
const source = {
  type: 'source', sourceType: 'url', id: 'task_1-0', url: 'https://example.com/', title: 'A page', providerMetadata: { unitask: { text: 'rain' } },
}

test('an answer', async () => {
  const { unitask } = provided(answer, { usage })
  const got = await unitask().doGenerate({ prompt: user(text('x')) })
  const ours = { unitask: {} }
  assert.deepEqual(got.content, [
    { type: 'reasoning', text: 'Hm.', providerMetadata: ours },
    { type: 'text', text: 'Rain.', providerMetadata: ours },
    call('call_1', '{"a":1}', {}),
    call('call_2', '{', { state: 'remember' }),
    source,
  ])
  assert.deepEqual(got.finishReason, { unified: 'tool-calls', raw: 'tool_calls' })
  assert.deepEqual(got.usage, counts)
  assert.deepEqual(got.providerMetadata, { unitask: { taskId: 'task_1', requestId: 'req_1', cost: usage.cost } })
  for (const [raw, unified] of Object.entries({ stop: 'stop', length: 'length', content_filter: 'content-filter' })) {
    const other = await provided({ text: '', finish_reason: raw }).unitask().doGenerate({ prompt: user(text('x')) })
    assert.deepEqual([other.finishReason, other.content], [{ unified, raw }, []])
  }
})

test('a streamed answer', async () => {
  const { unitask } = provided(answer, { usage })
  const { stream } = await unitask().doStream({ prompt: user(text('x')), topK: 1 })
  const parts = []
  for await (const part of stream) parts.push(part)
  assert.deepEqual(parts.map(({ type }) => type), [
    'stream-start', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-end',
    'tool-input-start', 'tool-input-delta', 'tool-input-start', 'tool-input-delta', 'response-metadata',
    'tool-input-end', 'tool-input-end', 'tool-call', 'tool-call', 'source', 'finish',
  ])
  assert.equal(parts[0].warnings[0].feature, 'topK')
  assert.deepEqual(parts.slice(14, 17), [call('call_1', '{"a":1}', {}), call('call_2', '{', { state: 'remember' }), source])
  assert.deepEqual(parts.at(-1).usage, counts)
})

const image = { type: 'file', mediaType: 'image/png', data: 'AAAA' }
const media = { data: 'AAAA', content_type: 'image/png' }
const plain = { n: 1, size: undefined, aspectRatio: undefined, seed: undefined, files: undefined, mask: undefined, providerOptions: {} }

test('images', async () => {
  const { unitask, bodies } = provided({ images: [] })
  await unitask.image('image.edit').doGenerate({ ...plain, prompt: 'x', files: [image], mask: { type: 'url', url: 'https://example.com/m.png' }, n: 2, aspectRatio: '1:1' })
  await unitask.image('image.upscale').doGenerate({ ...plain, prompt: undefined, files: [image], providerOptions: { unitask: { parameters: { factor: 4 } } } })
  assert.deepEqual(bodies, [
    { capability: 'image.edit', input: { prompt: 'x', images: [media], mask: { url: 'https://example.com/m.png' } }, parameters: { n: 2, aspect_ratio: '1:1' } },
    { capability: 'image.upscale', input: { image: media }, parameters: { factor: 4 } },
  ])
  await assert.rejects(unitask.image('image.upscale').doGenerate({ ...plain, files: [] }), { name: 'AI_UnsupportedFunctionalityError' })
  assert.equal(await unitask.image('image.upscale').maxImagesPerCall, 1)
})

test('videos', async () => {
  const { unitask, bodies } = provided({ videos: [] })
  const none = { n: 1, fps: undefined, image: undefined, frameImages: undefined, inputReferences: undefined, providerOptions: {} }
  const first = await unitask.video().doStart({
    ...none, prompt: 'x', resolution: '1080x1920', duration: 3, generateAudio: true, frameImages: [{ image, frameType: 'first_frame' }, { image, frameType: 'last_frame' }],
  })
  assert.deepEqual(first.operation, { task: 'task_1' })
  const video = { type: 'file', mediaType: 'video/mp4', data: 'AAAA' }
  const second = await unitask.video().doStart({ ...none, n: 2, prompt: 'x', aspectRatio: 'adaptive', resolution: '320x200', inputReferences: [image, video] })
  await unitask.video('video.extend').doStart({ ...none, prompt: 'x', inputReferences: [video] })
  assert.deepEqual(bodies, [
    {
      capability: 'video.generate', input: { prompt: 'x', image: media, last_image: media },
      parameters: { duration_seconds: 3, audio: true, resolution: '1080p', aspect_ratio: '9:16' },
    },
    { capability: 'video.generate', input: { prompt: 'x', reference_images: [media] }, parameters: {} },
    { capability: 'video.extend', input: { prompt: 'x', video: { data: 'AAAA', content_type: 'video/mp4' } }, parameters: {} },
  ])
  assert.deepEqual(second.warnings.map(({ feature }) => feature), ['inputReferences of videos', 'resolution', 'aspectRatio', 'n'])
})

test('the status of a video is read two seconds apart', async () => {
  const { unitask } = provided(null, { state: 'running' })
  const model = unitask.video()
  const began = Date.now()
  const operation = { task: 'task_1' }
  for (let n = 0; n < 2; n++) assert.equal((await model.doStatus({ operation })).status, 'pending')
  assert.ok(Date.now() - began > 1990)
})

test('transcripts', async () => {
  const pieces = [{ start: 0, end: 1, text: 'Hi', speaker: 'A' }, { start: 1, end: 2, text: 'there' }]
  const timed = [{ startSecond: 0, endSecond: 1, text: 'Hi' }, { startSecond: 1, endSecond: 2, text: 'there' }]
  const { unitask, bodies } = provided({ text: 'Hi there', segments: pieces })
  const model = unitask.transcription()
  const words = await model.doGenerate({ audio: 'AAAA', mediaType: 'audio/wav', timestampGranularities: ['word'] })
  assert.deepEqual([words.words, words.segments], [timed, []])
  const both = await model.doGenerateFromUrl({ audio: new URL('https://example.com/a.wav'), timestampGranularities: ['segment', 'word'] })
  assert.deepEqual([both.words, both.segments], [undefined, timed])
  assert.deepEqual(both.providerMetadata.unitask.speakers, ['A', null])
  assert.equal(await model.doGenerateFromUrl({ audio: new URL('http://localhost/a.wav') }), undefined)
  assert.deepEqual(bodies.map(({ input, parameters }) => ({ ...input, ...parameters })), [
    { audio: { data: 'AAAA', content_type: 'audio/wav' }, timestamps: 'word' },
    { audio: { url: 'https://example.com/a.wav' }, timestamps: 'both' },
  ])
})

test('a key of the caller goes along, and may be tried again', async () => {
  const keys = []
  const unitask = createUnitask({
    baseUrl: 'http://service.test', apiKey: 'x', sleep: () => Promise.resolve(),
    fetch: async (url, init) => {
      keys.push(init.headers.get('idempotency-key'))
      return Response.json({ error: { code: 'INTERNAL', message: 'no', retryable: true }, request_id: 'req_1' }, { status: 500 })
    },
  })
  const prompt = user(text('x'))
  const failures = [
    await unitask().doGenerate({ prompt, headers: { 'Idempotency-Key': 'of-the-caller' } }).catch((error) => error),
    await unitask().doGenerate({ prompt, providerOptions: { unitask: { idempotencyKey: 'of-the-caller' } } }).catch((error) => error),
    await unitask().doGenerate({ prompt }).catch((error) => error),
  ]
  assert.deepEqual(failures.map(({ isRetryable }) => isRetryable), [true, true, false])
  assert.deepEqual([...new Set(keys.slice(0, 12))], ['of-the-caller'])
  assert.equal(new Set(keys).size, 2)
})
