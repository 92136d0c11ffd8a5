import type { Artifact } from './capabilities.js'
import { UnitaskError } from './errors.js'
import { lost, Watch, type Transport } from './transport.js'
import { Tries } from './tries.js'

/** The whole bytes of a file, held to its length and hash. */
export async function download(transport: Transport, artifact: Artifact, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(artifact.bytes)
  let at = 0
  for await (const piece of pieces(transport, artifact, signal)) {
    if (at + piece.length > whole.length) throw differs(artifact)
    whole.set(piece, at)
    at += piece.length
  }
  if ((await sha256(whole)) !== artifact.sha256) throw differs(artifact)
  return whole
}

/** The bytes of a file as they come. */
export function open(transport: Transport, artifact: Artifact, signal?: AbortSignal): ReadableStream<Uint8Array> {
  const source = pieces(transport, artifact, signal)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await source.return(undefined)
    },
  })
}

/** Reads a file piece by piece, over as many connections as it takes. */
async function* pieces(transport: Transport, artifact: Artifact, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const tries = new Tries()
  let at = 0
  while (at < artifact.bytes) {
    const watch = new Watch(transport.timeout, signal)
    try {
      const headers = at > 0 ? { range: `bytes=${at}-` } : {}
      const response = await transport.open({ method: 'GET', path: artifact.url, headers, signal }, watch)
      let skip = response.status === 206 ? 0 : at
      for await (const piece of read(response.body!, watch)) {
        tries.answered()
        const rest = piece.subarray(Math.min(skip, piece.length))
        skip -= piece.length - rest.length
        at += rest.length
        if (rest.length > 0) yield rest
      }
      if (at < artifact.bytes) throw new Error('the file ended early')
    } catch (error) {
      const failure = lost(error, signal, new URL(artifact.url, transport.baseUrl).origin)
      await transport.pause(tries.next(failure), failure, signal)
    } finally {
      watch.end()
    }
  }
}

async function* read(body: ReadableStream<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      watch.begin()
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** A hash in hexadecimal. */
export async function sha256(bytes: BufferSource): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function differs(artifact: Artifact): UnitaskError {
  return new UnitaskError({ code: 'FILE_DIFFERS', message: `the bytes of ${artifact.id} aren't those of its task` })
}
