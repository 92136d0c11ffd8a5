// The client against a service that misbehaves.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Unitask } from 'unitask'

/** A client of a server of this test's own, and its pauses in milliseconds. */
async function served(t, handler) {
  const server = createServer(handler)
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close(server.closeAllConnections()))
  const baseUrl = `http://127.0.0.1:${server.address().port}`
  const pauses = []
  const client = new Unitask({ baseUrl, apiKey: 'svc_test_x', sleep: async (ms) => void pauses.push(ms) })
  return { client, baseUrl, pauses }
}

const json = (response, status, value, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

const refusal = (code, retryable, more = {}) => ({ error: { code, message: 'no', retryable, ...more }, request_id: 'req_1' })

test('an address without a scheme, and an option that there is not', () => {
  for (const baseUrl of ['127.0.0.1:8420', 'localhost:8420', 'ai.example.com', 'ftp://a', 'http://', '//a']) {
    assert.throws(() => new Unitask({ baseUrl, apiKey: 'x' }), { name: 'TypeError', message: /http or https address, not "/ }, baseUrl)
  }
  assert.equal(new Unitask({ baseURL: 'http://a:1/', apiKey: 'x' }).baseUrl, 'http://a:1')
  assert.throws(() => new Unitask({ baseurl: 'http://a', apiKey: 'x' }), { name: 'TypeError', message: /no option baseurl; there are baseUrl, / })
})

test('a lost connection names the address and the cause', async () => {
  const client = new Unitask({ baseUrl: 'http://127.0.0.1:9', apiKey: 'x', sleep: async () => {} })
  const message = /^the connection to http:\/\/127\.0\.0\.1:9 was lost, or there was none: .*ECONNREFUSED/
  // port 9 is one that fetch itself refuses to connect to
  await assert.rejects(client.get('task_1'), { code: 'CONNECTION_LOST', message: /http:\/\/127\.0\.0\.1:9 .*: bad port/ })
  const down = createServer()
  await new Promise((done) => down.listen(0, '127.0.0.1', done))
  const { port } = down.address()
  await new Promise((done) => down.close(done))
  const away = new Unitask({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'x', sleep: async () => {} })
  await assert.rejects(away.get('task_1'), { message: new RegExp(message.source.replace(':9 ', `:${port} `)) })
})

test('retries stop', async (t) => {
  const seen = []
  const answers = [
    (r) => r.destroy(),
    (r) => r.writeHead(502, { 'content-type': 'text/html' }).end('<p>a proxy</p>'),
    (r) => json(r, 503, refusal('CAPACITY_EXHAUSTED', true, { retry_after_seconds: 7 })),
    (r) => json(r, 429, refusal('RATE_LIMIT_EXCEEDED', true), { 'retry-after': '3' }),
  ]
  const { client, pauses } = await served(t, (request, response) => {
    seen.push(request.headers['idempotency-key'])
    request.resume()
    ;(answers[seen.length - 1] ?? ((r) => json(r, 500, refusal('INTERNAL', true))))(response)
  })
  await assert.rejects(client.submit({ capability: 'text.chat', input: { prompt: 'x' } }), { code: 'INTERNAL', requestId: 'req_1' })
  assert.equal(seen.length, 6)
  assert.equal(new Set(seen).size, 1)
  assert.ok(pauses[2] >= 7000 && pauses[3] >= 3000 && pauses[4] < 16000, pauses.join())
})

test('an advice of over a minute ends it, and so does a final answer', async (t) => {
  let requests = 0
  const { client } = await served(t, (request, response) => {
    requests++
    request.resume()
    if (request.method === 'GET') return json(response, 404, refusal('NOT_FOUND', false))
    json(response, 429, refusal('RATE_LIMIT_EXCEEDED', true, { retry_after_seconds: 61 }))
  })
  await assert.rejects(client.submit({ capability: 'text.chat', input: { prompt: 'x' } }), { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 61 })
  await assert.rejects(client.get('task_1'), { code: 'NOT_FOUND', retryable: false })
  assert.equal(requests, 2)
})

test('an answer of somebody else', async (t) => {
  const { client } = await served(t, (request, response) => {
    request.resume()
    if (request.url.endsWith('task_1')) return response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    response.writeHead(404).end('no')
  })
  await assert.rejects(client.get('task_1'), { code: 'UNEXPECTED_ANSWER', status: 302, retryable: false })
  await assert.rejects(client.get('task_2'), { code: 'UNEXPECTED_ANSWER', status: 404 })
})

test('a download over three connections', async (t) => {
  const file = randomBytes(300_000)
  const ranges = []
  const { client, baseUrl } = await served(t, (request, response) => {
    ranges.push(request.headers.range)
    const at = Number(/\d+/.exec(request.headers.range ?? '0')[0])
    response.writeHead(at > 0 ? 206 : 200, { 'content-length': file.length - at })
    if (ranges.length === 3) return response.end(file.subarray(at))
    response.write(file.subarray(at, at + 100_000), () => response.destroy())
  })
  const sha256 = createHash('sha256').update(file).digest('hex')
  const bytes = await client.download({ id: 'art_1', url: `${baseUrl}/artifacts/art_1?s=1`, bytes: file.length, sha256 })
  assert.ok(file.equals(bytes))
  assert.equal(ranges.length, 3)
  assert.match(ranges.join(' '), /^ bytes=[1-9]\d*- bytes=[1-9]\d*-$/)
})

async function bodyOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

/** A service that takes one upload, and cuts connections off after some bytes, once for each number. */
function uploads(cuts) {
  const seen = { puts: [], digests: [], creations: 0, file: Buffer.alloc(0) }
  const about = (host) => {
    const complete = seen.file.length === seen.announced.bytes
    const upload = { artifact: 'art_1', state: complete ? 'complete' : 'open', ...seen.announced, received: seen.file.length }
    return { request_id: 'req_1', upload: { ...upload, url: `http://${host}/uploads/art_1?signature=1`, expires_at: '2030-01-01T00:00:00.000Z' } }
  }
  const handler = async (request, response) => {
    const { host, 'content-range': range, authorization } = request.headers
    if (request.method === 'POST') {
      seen.creations++
      seen.announced = await bodyOf(request)
      return json(response, 201, about(host))
    }
    if (request.method === 'GET') return json(response, 200, about(host))
    const at = Number(/\d+/.exec(range ?? '0')[0])
    seen.puts.push(range)
    assert.equal(authorization, undefined)
    if (at !== seen.file.length) {
      const details = [{ field: 'Content-Range', message: 'elsewhere' }, { field: 'received', message: String(seen.file.length) }]
      request.resume()
      return json(response, 409, refusal('INVALID_REQUEST', false, { details }))
    }
    let left = cuts.shift() ?? Infinity
    if (left === 'damaged') {
      request.resume()
      const details = [{ field: 'Content-Digest', message: 'differs' }, { field: 'received', message: String(seen.file.length) }]
      return json(response, 409, refusal('INVALID_REQUEST', false, { details }))
    }
    const part = createHash('sha256')
    const before = seen.file
    const digest = request.headers['content-digest']
    seen.digests.push(digest !== undefined)
    for await (const chunk of request) {
      seen.file = Buffer.concat([seen.file, chunk.subarray(0, left)])
      part.update(chunk)
      left -= chunk.length
      if (left > 0) continue
      if (digest) seen.file = before
      return request.destroy()
    }
    if (digest) assert.equal(digest, `sha-256=:${part.digest('base64')}:`)
    if (seen.file.length < seen.announced.bytes) return json(response, 200, about(host))
    const right = createHash('sha256').update(seen.file).digest('hex') === seen.announced.sha256
    if (right) return json(response, 200, about(host))
    seen.file = Buffer.alloc(0)
    json(response, 409, refusal('INVALID_REQUEST', false, { details: [{ field: 'sha256', message: 'differs' }, { field: 'received', message: '0' }] }))
  }
  return { seen, handler }
}

test('an upload that is cut off twice, and one that is left and taken up', async (t) => {
  const file = randomBytes(400_000)
  const { seen, handler } = uploads([100_000, 50_000])
  const { client } = await served(t, handler)
  const progress = []
  const upload = await client.upload(new Blob([file], { type: 'video/mp4' }), { onProgress: ({ received }) => progress.push(received) })
  assert.equal(upload.state, 'complete')
  assert.ok(seen.file.equals(file))
  assert.equal(seen.creations, 1)
  assert.deepEqual(seen.announced, { content_type: 'video/mp4', bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') })
  assert.equal(seen.puts[0], undefined)
  assert.equal(seen.puts[1], undefined) // what was cut off had a hash
  assert.ok(seen.puts.slice(2).every((range) => range.endsWith('-399999/400000')))
  assert.deepEqual(progress, progress.toSorted((a, b) => a - b))
  assert.deepEqual(seen.digests, [true, false, false])

  seen.file = seen.file.subarray(0, 1000)
  assert.equal((await client.upload(file, { resume: upload })).state, 'complete')
  assert.ok(seen.file.equals(file))
  assert.equal(seen.creations, 1)
})

test('a part of an upload that is damaged is sent again alone', async (t) => {
  const file = randomBytes((16 << 20) + 5)
  const { seen, handler } = uploads([Infinity, 'damaged'])
  const { client } = await served(t, handler)
  const upload = await client.upload(file, { contentType: 'video/mp4' })
  assert.equal(upload.state, 'complete')
  assert.ok(seen.file.equals(file))
  const size = file.length
  const begins = ['0-8388607', '8388608-16777215', '8388608-16777215', '16777216-16777220']
  assert.deepEqual(seen.puts, begins.map((range) => `bytes ${range}/${size}`))
})

test('an upload with another hash is refused', async (t) => {
  const { seen, handler } = uploads([])
  const { client } = await served(t, handler)
  const options = { contentType: 'video/mp4', sha256: '0'.repeat(64) }
  const failure = await client.upload(randomBytes(1000), options).catch((error) => error)
  assert.deepEqual([failure.status, failure.details[0].field], [409, 'sha256'])
  assert.equal(seen.puts.length, 1)
  await assert.rejects(client.upload(new Uint8Array(1)), { message: /contentType/ })
})
