// The client against a real service: UNITASK_BASE_URL and UNITASK_API_KEY name it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unitask, UnitaskError } from 'unitask'

const chat = (prompt, parameters) => ({ capability: 'text.chat', input: { prompt }, parameters })

/** A client that counts its requests, and whose fetch may be another. */
function counted(fetchWith = fetch, options = {}) {
  const requests = []
  const client = new Unitask({
    sleep: () => Promise.resolve(),
    fetch: (url, init) => {
      requests.push({ url: String(url), ...init })
      return fetchWith(url, init, requests.length)
    },
    ...options,
  })
  return { client, requests }
}

/** An end of what would last for an hour. */
const soon = () => ({ signal: AbortSignal.timeout(60_000) })

/** A body that breaks off after some bytes. */
function cut(response, after) {
  let left = after
  const limit = new TransformStream({
    transform(chunk, controller) {
      if (left > 0) controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.error(new Error('cut'))
    },
  })
  return new Response(response.body.pipeThrough(limit), response)
}

test('run', async () => {
  const task = await new Unitask().run(chat('What is 12*7+1?'))
  assert.match(task.output.text, /85/)
  assert.equal(task.state, 'succeeded')
  assert.ok(task.usage.input_tokens > 0)
  assert.match(task.request_id, /^req_/)
})

test('the directory and lists', async () => {
  const client = new Unitask()
  assert.ok((await client.capabilities()).some(({ name }) => name === 'image.generate'))
  const team = crypto.randomUUID()
  const made = await client.run({ ...chat('hello'), metadata: { team } })
  const listed = []
  for await (const task of client.list({ capability: 'text.chat', metadata: { team } })) listed.push(task.id)
  assert.deepEqual(listed, [made.id])
  const other = await client.run({ capability: 'text.embed', input: { texts: ['a'] }, metadata: { team } })
  const failed = await client.run({ ...chat('@fail:CONTENT_POLICY_VIOLATION'), metadata: { team } }).catch((error) => error.taskId)
  const found = async (query) => {
    const ids = []
    for await (const { id } of client.list({ metadata: { team }, ...query })) ids.push(id)
    return ids
  }
  assert.deepEqual(await found({}), [failed, other.id, made.id])
  assert.deepEqual(await found({ order: 'oldest' }), [made.id, other.id, failed])
  assert.deepEqual(await found({ code: 'CONTENT_POLICY_VIOLATION' }), [failed])
  assert.deepEqual(await found({ key: `key_${'0'.repeat(26)}` }), [])
  assert.deepEqual(await found({ createdBefore: new Date(Date.now() - 3_600_000) }), [])
  assert.equal((await found({ createdAfter: new Date(Date.now() - 3_600_000).toISOString(), createdBefore: new Date(Date.now() + 60_000) })).length, 3)
  assert.equal((await client.get(made.id)).output.text, made.output.text)
})

test('an image is waited for and downloaded', async () => {
  const { client, requests } = counted((url, init) => fetch(url, init), { sleep: undefined })
  const queued = await client.submit({ capability: 'image.generate', input: { prompt: 'a red fox' }, parameters: { size: '256x256' } })
  assert.equal(queued.state, 'queued')
  const states = []
  const task = await client.wait(queued.id, { onTask: ({ state }) => states.push(state) })
  assert.equal(states.at(-1), 'succeeded')
  const [image] = task.output.images
  const bytes = await client.download(image)
  assert.equal(bytes.length, image.bytes)
  assert.deepEqual([...bytes.subarray(1, 4)], [80, 78, 71])
  const file = requests.at(-1)
  assert.equal(new Headers(file.headers).get('authorization'), null, 'the key goes to the API alone')
  await assert.rejects(client.download({ ...image, sha256: '0'.repeat(64) }), { code: 'FILE_DIFFERS' })
})

test('reads of a task are two to five seconds apart', async () => {
  const gaps = []
  let began
  let reads = 0
  const { client } = counted((url, init) => {
    began = Date.now()
    assert.equal(new Headers(init.headers).get('prefer'), ++reads < 3 ? 'wait=1' : 'wait=4')
    const ended = reads === 4
    const task = { id: 'task_x', state: ended ? 'succeeded' : 'running', output: ended ? {} : null, error: null }
    return Response.json(task, { headers: reads === 2 ? { 'retry-after': '5' } : {} })
  }, { sleep: async (ms) => void gaps.push(Date.now() - began + ms) })
  await client.wait('task_x')
  assert.equal(gaps.length, 3)
  for (const gap of gaps) assert.ok(gap > 1990 && gap < 5010, `${gap} ms apart`)
  assert.ok(gaps[2] > 4990, 'Retry-After counts')
  assert.notEqual(gaps[0], gaps[1], 'with jitter')
})

test('a lost answer makes no second task', async () => {
  const { client, requests } = counted(async (url, init, nth) => {
    const response = await fetch(url, init)
    if (nth === 1) throw new TypeError('the connection was reset')
    return nth === 2 ? cut(response, 10) : response
  })
  const team = crypto.randomUUID()
  const task = await client.run({ ...chat('hello once'), metadata: { team } })
  assert.equal(requests.length, 3)
  const keys = new Set(requests.map(({ headers }) => headers.get('idempotency-key')))
  assert.equal(keys.size, 1)
  const listed = []
  for await (const { id } of new Unitask().list({ metadata: { team } })) listed.push(id)
  assert.deepEqual(listed, [task.id])
})

test('a failed task is reopened twice', async () => {
  const pauses = []
  const { client, requests } = counted(fetch, { sleep: async (ms) => void pauses.push(ms) })
  const failure = await client.run(chat('@fail:PROVIDER_UNAVAILABLE')).catch((error) => error)
  assert.ok(failure instanceof UnitaskError)
  assert.deepEqual([failure.code, failure.status, failure.retryable], ['PROVIDER_UNAVAILABLE', 502, true])
  assert.match(failure.taskId, /^task_/)
  assert.equal(requests.length, 3)
  assert.ok(pauses.every((pause) => pause >= 1000), 'never before Retry-After')
})

test('a final failure is told at once', async () => {
  const { client, requests } = counted()
  const wrong = await client.run({ capability: 'text.chat', input: { prompts: 'x' } }).catch((error) => error)
  assert.equal(wrong.code, 'INVALID_REQUEST')
  assert.ok(wrong.details.some(({ field }) => field === 'input.prompts'))
  assert.match(wrong.requestId, /^req_/)
  await assert.rejects(client.run(chat('@fail:CONTENT_POLICY_VIOLATION')), { code: 'CONTENT_POLICY_VIOLATION', retryable: false })
  await assert.rejects(client.get('task_00000000000000000000000000'), { code: 'NOT_FOUND', status: 404 })
  await assert.rejects(new Unitask({ apiKey: 'svc_test_wrong' }).run(chat('x')), { code: 'UNAUTHENTICATED' })
  assert.equal(requests.length, 3)
})

test('the key is the task', async () => {
  const client = new Unitask()
  const idempotencyKey = crypto.randomUUID()
  const first = await client.run(chat('hello'), { idempotencyKey })
  assert.equal((await client.run(chat('hello'), { idempotencyKey })).id, first.id)
  await assert.rejects(client.run(chat('good bye'), { idempotencyKey }), { code: 'IDEMPOTENCY_CONFLICT' })
})

test('a file goes ahead, over connections that are cut off', async () => {
  const wav = new Uint8Array(200_044)
  wav.set(new TextEncoder().encode('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0'))
  const view = new DataView(wav.buffer)
  for (const [at, value] of [[4, wav.length - 8], [24, 8000], [28, 16000], [40, wav.length - 44]]) view.setUint32(at, value, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  wav.set(new TextEncoder().encode('data'), 36)
  crypto.getRandomValues(wav.subarray(44, 60_000))
  let cuts = 0
  const { client } = counted(async (url, init) => {
    if (init.method !== 'PUT' || cuts === 2) return fetch(url, init)
    cuts++
    const part = new Blob([init.body.slice(0, 70_000)])
    const at = Number(/\d+/.exec(init.headers.get('content-range') ?? '0')[0])
    await fetch(url, { method: 'PUT', body: part, headers: { 'content-range': `bytes ${at}-${at + part.size - 1}/${wav.length}` } })
    throw new TypeError('the connection was reset')
  })
  const received = []
  const upload = await client.upload(wav, { contentType: 'audio/wav', onProgress: (now) => received.push(now.received) })
  assert.equal(upload.state, 'complete')
  assert.deepEqual(received, [0, 70_000, 140_000, wav.length])
  assert.equal((await client.uploaded(upload.artifact)).state, 'complete')
  const task = await client.run({ capability: 'audio.transcribe', input: { audio: { artifact: upload.artifact } } })
  const there = async () => {
    for await (const { artifact } of client.uploads()) if (artifact === upload.artifact) return true
    return false
  }
  assert.equal(await there(), true)
  const lossy = counted(async (url, init, n) => {
    const done = await fetch(url, init)
    if (n === 1) throw new TypeError('the connection was reset')
    return done
  })
  await lossy.client.deleteUpload(upload.artifact) // its first answer is lost
  assert.equal(lossy.requests.length, 2)
  assert.equal(await there(), false)
  await assert.rejects(client.deleteUpload(upload.artifact), { status: 404 })
  assert.ok(task.output.text)
})

async function heard(source) {
  const got = { text: '', pieces: 0, restarts: 0 }
  for await (const event of source) {
    if (event.type === 'text') (got.text += event.text), got.pieces++
    if (event.type === 'restart') got.restarts++
    if (event.type === 'task') got.task = event.task
  }
  return got
}

test('stream', async () => {
  const got = await heard(new Unitask().stream(chat('say one two three four five')))
  assert.match(got.text, /one two three four five/)
  assert.equal(got.text, got.task.output.text)
  assert.ok(got.pieces > 2)
})

test('a stream that is cut off goes on', async () => {
  const { client, requests } = counted(async (url, init, nth) => {
    const response = await fetch(url, init)
    return nth < 3 ? cut(response, 900 * nth) : response
  })
  const got = await heard(client.stream(chat('say ' + 'word '.repeat(60))))
  assert.equal(got.text, got.task.output.text)
  assert.equal(got.restarts, 0)
  assert.ok(requests.length > 1, `${requests.length} requests`)
  assert.equal(requests.filter(({ method }) => method === 'POST').length, 1)
})

test('a task without a stream is heard too', async () => {
  const { client } = counted((url, init) => {
    const headers = new Headers(init.headers)
    headers.delete('accept')
    return fetch(url, { ...init, headers })
  })
  const got = await heard(client.stream(chat('say one two')))
  assert.equal(got.text, got.task.output.text)
  await assert.rejects(heard(client.stream(chat('@fail:CONTENT_POLICY_VIOLATION'))), { code: 'CONTENT_POLICY_VIOLATION' })
})

test('a proxy that lets no streams through', async () => {
  const { client, requests } = counted((url, init) => {
    if (new Headers(init.headers).get('accept') === 'text/event-stream') throw new TypeError('held back')
    return fetch(url, init)
  })
  const got = await heard(client.stream(chat('say one two')))
  assert.equal(got.text, got.task.output.text)
  assert.equal(requests.length, 2)
})

test('a stream that is joined again is read two seconds apart at least', async () => {
  const gaps = []
  let began
  const { client, requests } = counted((url, init, nth) => {
    began = Date.now()
    const [state, output] = nth < 4 ? ['running', null] : ['succeeded', { text: 'one two' }]
    const delta = nth < 3 ? '' : 'event: delta\ndata: {"text":"one"}\n\n: a comment\n\n'
    const task = JSON.stringify({ id: 'task_1', state, output, error: null })
    return new Response(`event: task\r\ndata: ${task}\r\n\r\n${delta}`, { headers: { 'content-type': 'text/event-stream' } })
  }, { sleep: async (ms) => void gaps.push(Date.now() - began + ms) })
  const got = await heard(client.stream(chat('x')))
  assert.deepEqual([got.text, got.pieces, got.restarts], ['one two', 2, 0])
  assert.deepEqual(requests.map(({ method }) => method), ['POST', 'GET', 'GET', 'GET'])
  assert.ok(gaps.length === 3 && gaps.slice(1).every((gap) => gap > 1990), `${gaps} ms apart`)
})

test('a text that is another one after a cut begins anew', async () => {
  const { client } = counted((url, init, nth) => {
    const task = (state, text) => `event: task\ndata: ${JSON.stringify({ id: 'task_1', state, output: text && { text }, error: null })}\n\n`
    const delta = (text) => `event: delta\ndata: ${JSON.stringify({ text })}\n\n`
    const first = task('running') + delta('one ') + delta('two')
    const second = task('running') + delta('one th') + delta('ree') + task('succeeded', 'one three')
    return new Response(nth === 1 ? first : second, { headers: { 'content-type': 'text/event-stream' } })
  })
  const pieces = []
  for await (const event of client.stream(chat('x'))) if (event.type !== 'task') pieces.push(event.text ?? event.type)
  assert.deepEqual(pieces, ['one ', 'two', 'restart', 'one th', 'ree'])
})

test('an abort ends the call, and the task if that is wanted', async () => {
  const client = new Unitask()
  const abort = new AbortController()
  let id
  const onTask = (task) => {
    id = task.id
    abort.abort(new Error('enough'))
  }
  const queued = await client.submit(chat('@slow:1h hello'), { wait: 0 })
  await assert.rejects(client.wait(queued.id, { signal: abort.signal, onTask }), { message: 'enough' })
  assert.notEqual((await client.get(queued.id)).state, 'canceled')
  assert.equal((await client.cancel(id)).state, 'canceled')
  await assert.rejects(client.run(chat('hello'), { signal: abort.signal }), { message: 'enough' })

  const second = new AbortController()
  const stream = client.stream(chat('@slow:1h hello'), { signal: second.signal, cancelOnAbort: true })
  const { value } = await stream.next()
  second.abort(new Error('enough'))
  await assert.rejects(stream.next(), { message: 'enough' })
  assert.equal((await client.wait(value.task.id, soon())).state, 'canceled')
})

test('an abort of run cancels the task', async () => {
  const abort = new AbortController()
  let id
  const onTask = (task) => {
    id = task.id
    abort.abort(new Error('enough'))
  }
  const run = new Unitask().run(chat('@slow:1h hello'), { signal: abort.signal, cancelOnAbort: true, onTask })
  await assert.rejects(run, { message: 'enough' })
  assert.equal((await new Unitask().wait(id, soon())).state, 'canceled')
})

test('a canceled task is an error of run', async () => {
  const client = new Unitask()
  const idempotencyKey = crypto.randomUUID()
  const slow = chat('@slow:1h hello')
  const { id } = await client.submit(slow, { idempotencyKey, wait: 0 })
  await client.cancel(id)
  await assert.rejects(client.run(slow, { idempotencyKey }), { code: 'CANCELED', taskId: id })
})
