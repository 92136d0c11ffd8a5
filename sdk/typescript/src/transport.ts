import { failureIn, UnitaskError } from './errors.js'
import { sleep, Tries } from './tries.js'

/** Where the service is, and how it is called. */
export interface Options {
  /** Such as https://ai.example.com; by default the environment's UNITASK_BASE_URL, if there is an environment. */
  baseUrl?: string
  /** As baseUrl, in the spelling of other clients. */
  baseURL?: string
  /** By default the environment's UNITASK_API_KEY. It belongs on a server, never in a page. */
  apiKey?: string
  /** Sent with each request. */
  headers?: Record<string, string>
  /** In the place of the global one. */
  fetch?: typeof fetch
  /** The milliseconds in which an answer must begin, and in which a stream may be silent: 90,000. */
  timeout?: number
  /** For a page that only its owner opens: without it there is no client where there is a document. */
  dangerouslyAllowBrowser?: boolean
  /** Pauses between requests, for tests. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

const known = ['baseUrl', 'baseURL', 'apiKey', 'headers', 'fetch', 'timeout', 'dangerouslyAllowBrowser', 'sleep']

/** One request. */
export interface Call {
  method: string
  /** Below the base URL, or a whole signed address, which goes without the key. */
  path: string
  headers?: Record<string, string | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** Sends requests. Its key goes to the base URL alone. */
export class Transport {
  readonly baseUrl: string
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  readonly timeout: number
  private readonly fetch: typeof fetch
  private readonly apiKey: string
  private readonly headers: Record<string, string>

  constructor(options: Options) {
    if ('document' in globalThis && !options.dangerouslyAllowBrowser) {
      throw new Error('unitask: the API key would be in a page; call from a server')
    }
    const strange = Object.keys(options).find((name) => !known.includes(name))
    if (strange !== undefined) throw new TypeError(`unitask: there is no option ${strange}; there are ${known.join(', ')}`)
    const baseUrl = options.baseUrl ?? options.baseURL ?? environment('UNITASK_BASE_URL')
    const apiKey = options.apiKey ?? environment('UNITASK_API_KEY')
    if (!baseUrl) throw new Error('unitask: baseUrl is missing, and so is UNITASK_BASE_URL')
    if (!apiKey) throw new Error('unitask: apiKey is missing, and so is UNITASK_API_KEY')
    if (!isAddress(baseUrl)) throw new TypeError(`unitask: baseUrl must be an http or https address, not ${JSON.stringify(baseUrl)}`)
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.apiKey = apiKey
    this.headers = options.headers ?? {}
    this.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
    this.timeout = options.timeout ?? 90_000
    this.sleep = options.sleep ?? sleep
  }

  /** Sends a request until an answer was read or no try is left; its headers stay the same, the key's too. */
  async send<T>(call: Call, read: (response: Response) => Promise<T>, tries = new Tries()): Promise<T> {
    for (;;) {
      try {
        return await this.once(call, read)
      } catch (error) {
        await this.pause(tries.next(error), error, call.signal)
      }
    }
  }

  /** Pauses before the next try; without one the error is thrown. */
  async pause(milliseconds: number | undefined, error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (milliseconds === undefined) throw error
    await this.sleep(milliseconds, signal)
  }

  /** Sends a request once and reads its answer. An answer of an error's status is thrown. */
  async once<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const watch = new Watch(this.timeout, call.signal)
    try {
      return await read(await this.open(call, watch))
    } catch (error) {
      throw lost(error, call.signal, this.baseUrl)
    } finally {
      watch.end()
    }
  }

  /** Sends a request once, under a watch that lasts until its body was read. */
  async open(call: Call, watch: Watch): Promise<Response> {
    const response = await this.fetch(this.address(call), this.init(call, watch.signal))
    if (response.ok || response.status === 304) return response
    throw await failureIn(response)
  }

  private address(call: Call): string {
    return call.path.startsWith('/') ? this.baseUrl + call.path : call.path
  }

  private init(call: Call, signal: AbortSignal): RequestInit {
    const headers = new Headers()
    const own = call.path.startsWith('/') ? { ...this.headers, ...call.headers } : call.headers
    for (const [name, value] of Object.entries(own ?? {})) {
      if (value !== undefined) headers.set(name, value)
    }
    if (call.path.startsWith('/')) headers.set('authorization', `Bearer ${this.apiKey}`)
    const init: RequestInit = { method: call.method, headers, signal, redirect: 'manual' }
    if (call.body instanceof Blob) {
      init.body = call.body
    } else if (call.body !== undefined) {
      init.body = JSON.stringify(call.body)
      headers.set('content-type', 'application/json')
    }
    return init
  }
}

/** Ends a request that takes too long, or whose caller gives it up. */
export class Watch {
  private readonly controller = new AbortController()
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly stop = () => this.controller.abort(this.outer?.reason)

  constructor(
    private readonly timeout: number,
    private readonly outer?: AbortSignal,
  ) {
    if (outer?.aborted) this.stop()
    outer?.addEventListener('abort', this.stop, { once: true })
    this.begin()
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** Begins the time anew. */
  begin(): void {
    clearTimeout(this.timer)
    const silent = () => this.controller.abort(new Error(`no answer within ${this.timeout / 1000} s`))
    this.timer = setTimeout(silent, this.timeout)
  }

  end(): void {
    clearTimeout(this.timer)
    this.outer?.removeEventListener('abort', this.stop)
  }
}

/** What a failed fetch is to a caller: the reason of an abort, or a lost connection, after which a request may go again. */
export function lost(error: unknown, signal: AbortSignal | undefined, address: string): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof UnitaskError) return error
  const message = `the connection to ${address} was lost, or there was none: ${reason(error)}`
  return new UnitaskError({ code: 'CONNECTION_LOST', message, retryable: true, cause: error })
}

/** What fetch says, which hides it one level below "fetch failed". */
function reason(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  return cause?.message || cause?.code || (error instanceof Error ? error.message : String(error))
}

function isAddress(text: string): boolean {
  try {
    return /^https?:\/\/[^/]/i.test(text) && new URL(text).hostname !== ''
  } catch {
    return false
  }
}

function environment(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name]
}
