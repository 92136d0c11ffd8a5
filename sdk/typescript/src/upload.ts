import { sha256 } from './download.js'
import { UnitaskError } from './errors.js'
import type { Transport } from './transport.js'
import { Tries } from './tries.js'

/** A file on its way to the service, or there. */
export interface Upload {
  /** What inputs take: {"artifact": id}. */
  artifact: string
  state: 'open' | 'complete'
  content_type: string
  bytes: number
  /** How many bytes the service has. */
  received: number
  sha256: string
  /** Where the bytes go, signed; absent once the upload is complete. */
  url?: string
  expires_at: string
}

export interface UploadOptions {
  /** By default the type of the Blob. */
  contentType?: string
  /** The file's SHA-256 in hexadecimal. Without it the file is read into memory to compute it. */
  sha256?: string
  /** An upload of the same file that was left, of this process or another. */
  resume?: Upload
  signal?: AbortSignal
  /** Told how far the upload is, first when it begins: keep it to resume it after a restart. */
  onProgress?: (upload: Upload) => void
}

export const uploadsPath = '/api/ai/v1/uploads'
export const uploadPath = (artifact: string): string => `${uploadsPath}/${encodeURIComponent(artifact)}`
const partSize = 8 << 20 // at whose multiples requests end: the service takes no hash of one that goes on behind it
const notFinal = ['Content-Range', 'Content-Digest']

/** Sends a file ahead, from the byte on that the service lacks, over as many connections as it takes. */
export async function upload(
  transport: Transport,
  file: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer,
  options: UploadOptions,
): Promise<Upload> {
  const blob = file instanceof Blob ? file : new Blob([file])
  const { signal } = options
  const told = (now: Upload) => {
    options.onProgress?.(now)
    return now
  }
  let now = told(await begin(transport, blob, options))
  const tries = new Tries()
  let cut = false
  while (now.state !== 'complete') {
    const known = now.received
    try {
      now = told(await transport.once(await part(blob, now, cut, signal), uploadIn))
      cut = false
    } catch (error) {
      cut = !(error instanceof UnitaskError && error.details[0]?.field === 'Content-Digest')
      await transport.pause(tries.next(elsewhere(error)), error, signal)
      now = told(await uploaded(transport, now.artifact, signal))
    }
    if (now.received > known) tries.answered()
  }
  return now
}

/** How far an upload is. */
export function uploaded(transport: Transport, artifact: string, signal?: AbortSignal): Promise<Upload> {
  return transport.send({ method: 'GET', path: uploadPath(artifact), signal }, uploadIn)
}

async function begin(transport: Transport, blob: Blob, options: UploadOptions): Promise<Upload> {
  const { signal } = options
  if (options.resume) return uploaded(transport, options.resume.artifact, signal)
  const type = options.contentType ?? blob.type
  if (!type) throw new TypeError('unitask: the file has no contentType')
  const hash = options.sha256 ?? (await sha256(await blob.arrayBuffer()))
  const body = { content_type: type, bytes: blob.size, sha256: hash }
  return transport.send({ method: 'POST', path: uploadsPath, body, signal }, uploadIn)
}

/** The next bytes that the service lacks, with their hash. After a cut without it: what arrives before a further one is kept. */
async function part(blob: Blob, now: Upload, cut: boolean, signal: AbortSignal | undefined) {
  const begin = now.received
  const end = Math.min(begin - (begin % partSize) + partSize, now.bytes)
  const bytes = await blob.slice(begin, end).arrayBuffer()
  const headers = {
    'content-type': 'application/octet-stream',
    'content-range': end - begin < now.bytes ? `bytes ${begin}-${end - 1}/${now.bytes}` : undefined,
    'content-digest': cut ? undefined : await digest(bytes),
  }
  return { method: 'PUT', path: now.url ?? '', headers, body: new Blob([bytes]), signal }
}

async function digest(bytes: ArrayBuffer): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha-256=:${btoa(String.fromCharCode(...sum))}:`
}

/** The service has another part of the file than this side knows, as after a cut, or got other bytes: that isn't final. */
function elsewhere(error: unknown): unknown {
  const known = error instanceof UnitaskError && error.status === 409 && error.details.some((row) => notFinal.includes(row.field))
  return known ? new UnitaskError({ code: error.code, message: error.message, retryable: true }) : error
}

async function uploadIn(response: Response): Promise<Upload> {
  return ((await response.json()) as { upload: Upload }).upload
}
