import type { ErrorCode } from './errors.js'
import type { State } from './types.js'

/** The body of a webhook: which task has ended, never its input or output. Read the task for its result. */
export type WebhookEvent = TaskEvent | TestEvent

export interface TaskEvent {
  type: 'task.succeeded' | 'task.failed' | 'task.canceled'
  timestamp: string
  data: {
    id: string
    capability: string
    state: State
    /** Of a failure. */
    code?: ErrorCode
    request_id?: string
    metadata?: Record<string, string>
  }
}

/** A trial of the endpoint, which no task caused. */
export interface TestEvent {
  type: 'webhook.test'
  timestamp: string
  data: { id?: undefined }
}

/** Why a webhook isn't taken. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

export interface WebhookOptions {
  /** The body, byte for byte as it came. */
  body: string | Uint8Array
  headers: Headers | Record<string, string | string[] | undefined>
  /** whsec_…; several while one takes the place of another. */
  secret: string | string[]
  /** How old or how far ahead a webhook may be, in seconds: 300. */
  tolerance?: number
  /** The time, in milliseconds, for tests. */
  now?: number
}

/**
 * Verifies a webhook as Standard Webhooks 1.0 has it, and returns its body. A webhook may come more than once:
 * its header webhook-id is the same each time.
 */
export async function verifyWebhook<T = WebhookEvent>(options: WebhookOptions): Promise<T> {
  const id = header(options.headers, 'webhook-id')
  const timestamp = header(options.headers, 'webhook-timestamp')
  const signatures = header(options.headers, 'webhook-signature')
  const age = (options.now ?? Date.now()) / 1000 - Number(timestamp)
  if (!/^\d+$/.test(timestamp) || Math.abs(age) > (options.tolerance ?? 300)) {
    throw new WebhookError('webhook-timestamp is too old, too new or no time')
  }
  const encoder = new TextEncoder()
  const body = typeof options.body === 'string' ? encoder.encode(options.body) : options.body
  const signed = new Uint8Array(await new Blob([`${id}.${timestamp}.`, new Uint8Array(body)]).arrayBuffer())
  for (const secret of [options.secret].flat()) {
    if (await matches(secret, signatures, signed)) return JSON.parse(new TextDecoder().decode(body)) as T
  }
  throw new WebhookError('webhook-signature is of another secret or another body')
}

/** Compares in constant time, which crypto.subtle.verify does. */
async function matches(secret: string, signatures: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const raw = decoded(secret.replace(/^whsec_/, ''))
  if (raw === undefined || raw.length === 0) throw new WebhookError('the secret is not whsec_ and base64')
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') ? decoded(signature.slice(3)) : undefined
    if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) return true
  }
  return false
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function header(headers: WebhookOptions['headers'], name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : lookup(headers, name)
  if (!found) throw new WebhookError(`${name} is missing`)
  return found
}

/** Finds a header of Node's, whose names are in lower case, or of others. */
function lookup(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1]
  return Array.isArray(found) ? found.join(' ') : found
}
