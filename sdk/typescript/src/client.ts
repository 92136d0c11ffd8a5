import { advice, failureOf, UnitaskError, type ServiceCode } from './errors.js'
import { events } from './events.js'
import { creation, Following, heardTask, path, tasksPath, type StreamEvent } from './following.js'
import type { Delta } from './heard.js'
import { lost, Transport, Watch, type Options } from './transport.js'
import { Tries } from './tries.js'
import { ended, type Capability, type State, type SucceededTask, type Task, type TaskRequest } from './types.js'
import { download, open } from './download.js'
import { upload, uploaded, uploadPath, uploadsPath, type Upload, type UploadOptions } from './upload.js'
import type { Artifact } from './capabilities.js'

/** Goes with any call. */
export interface CallOptions {
  /** Ends the call with the signal's reason. The task goes on, unless cancelOnAbort says otherwise. */
  signal?: AbortSignal
  headers?: Record<string, string | undefined>
}

/** Goes with a creation. */
export interface CreateOptions extends CallOptions {
  /** 8 to 128 characters, by default a fresh one. One key is one task: keep it to send the same request again later. */
  idempotencyKey?: string
  /** An abort also cancels the task, if it is known by then. */
  cancelOnAbort?: boolean
}

export interface SubmitOptions extends CreateOptions {
  /** How many seconds the service may hold its answer for the end of the task, 0 to 60. */
  wait?: number
}

export interface WaitOptions extends CallOptions {
  /** Told of each revision of the task. */
  onTask?: (task: Task) => void
}

/** Tasks to list: those of which all holds that is given; a metadata text is that of all. */
export interface ListQuery extends CallOptions {
  state?: State
  capability?: string
  metadata?: Record<string, string>
  /** The id of the key that created them. */
  key?: string
  /** The error that they ended with. */
  code?: ServiceCode
  /** The first creation that counts: a time, or its text with a zone. */
  createdAfter?: Date | string
  /** The first creation that is too late. */
  createdBefore?: Date | string
  /** By default the newest task comes first. */
  order?: 'newest' | 'oldest'
}

const holding = 20 // seconds, below the limits of proxies on the way

/**
 * A client of one service. Lost connections and retryable errors are tried again under the same Idempotency-Key: six
 * times within three minutes, with jitter and never before the service's Retry-After.
 */
export class Unitask {
  private readonly transport: Transport

  constructor(options: Options = {}) {
    this.transport = new Transport(options)
  }

  get baseUrl(): string {
    return this.transport.baseUrl
  }

  /** The capabilities that the key may call now. */
  async capabilities(options: CallOptions = {}): Promise<Capability[]> {
    const { value } = await this.json<{ data: Capability[] }>('GET', '/api/ai/v1/capabilities', options)
    return value.data
  }

  /** Runs a task to its end. One that failed for good, or was canceled, is thrown as a UnitaskError. */
  async run<C extends string>(request: TaskRequest<C>, options: CreateOptions & WaitOptions = {}): Promise<SucceededTask<C>> {
    if (options.cancelOnAbort) return this.runStreamed(request, options)
    const keyed = withKey(options)
    const tries = new Tries()
    for (;;) {
      let task: Task<C> = await this.create(request, { wait: holding, ...keyed }, tries)
      options.onTask?.(task)
      if (!ended(task)) task = await this.wait<C>(task.id, options)
      if (task.state === 'succeeded') return task as SucceededTask<C>
      const failure = failureOf(task)
      await this.transport.pause(tries.next(failure), failure, options.signal)
    }
  }

  /** Creates a task and returns it as it is then: ended, or on its way. A synchronous one that failed is thrown. */
  submit<C extends string>(request: TaskRequest<C>, options: SubmitOptions = {}): Promise<Task<C>> {
    return this.create(request, withKey(options), new Tries())
  }

  /** The task as it is now. */
  async get<C extends string = string>(id: string, options: CallOptions = {}): Promise<Task<C>> {
    return (await this.json<Task<C>>('GET', path(id), options)).value
  }

  /** Waits for the end of a task, whatever it is. Its reads begin two to five seconds apart. */
  async wait<C extends string = string>(id: string, options: WaitOptions = {}): Promise<Task<C>> {
    const tries = new Tries()
    let etag: string | undefined
    let advised = 0
    for (;;) {
      const started = Date.now()
      const gap = 1000 * Math.min(Math.max(advised, 2) + Math.random(), 5)
      const held = `wait=${Math.floor(gap / 1000) - 1}`
      let pause = 0
      try {
        const headers = { ...options.headers, prefer: held, 'if-none-match': etag }
        const call = { method: 'GET', path: path(id), headers, signal: options.signal }
        const read = await this.transport.once(call, answer<Task<C>>)
        tries.answered()
        etag = read.headers.get('etag') ?? etag
        advised = advice(read.headers) ?? advised
        if (read.value !== undefined) {
          options.onTask?.(read.value)
          if (ended(read.value)) return read.value
        }
      } catch (error) {
        const again = tries.next(error)
        if (again === undefined) throw error
        pause = again
      }
      await this.transport.sleep(Math.max(started + gap - Date.now(), pause), options.signal)
    }
  }

  /** Cancels a task, if that is still possible, and returns it. */
  async cancel<C extends string = string>(id: string, options: CallOptions = {}): Promise<Task<C>> {
    return (await this.json<Task<C>>('POST', `${path(id)}/cancel`, options)).value
  }

  /** The account's tasks, newest first unless the query says otherwise, page by page. */
  list(query: ListQuery = {}): AsyncGenerator<Task> {
    return this.pages<Task>(tasksPath, searchOf(query), query)
  }

  /**
   * Runs a task and yields its pieces as they come, and the task whenever it changes, last as it succeeded. A stream
   * that breaks off is joined again; each piece comes once. A task that fails is thrown.
   */
  async *stream<C extends string>(request: TaskRequest<C>, options: CreateOptions = {}): AsyncGenerator<StreamEvent<C>> {
    const following = new Following(request, withKey(options))
    try {
      for (;;) {
        try {
          for await (const event of this.connection(following)) {
            following.hear(event)
            yield event
            if (event.type === 'task' && event.task.state === 'succeeded') return
          }
        } catch (error) {
          await this.transport.pause(following.next(error), error, options.signal)
        }
      }
    } catch (error) {
      this.abandon(following.id, options)
      throw error
    }
  }

  /** The whole bytes of a result file, held to its length and hash. A connection that is cut off is taken up again. */
  download(artifact: Artifact, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return download(this.transport, artifact, options.signal)
  }

  /** The bytes of a result file as they come, for files too large for memory. */
  open(artifact: Artifact, options: CallOptions = {}): ReadableStream<Uint8Array> {
    return open(this.transport, artifact, options.signal)
  }

  /** Sends a file ahead, which inputs then take as {"artifact": id}. A connection that is cut off is taken up again. */
  upload(file: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer, options: UploadOptions = {}): Promise<Upload> {
    return upload(this.transport, file, options)
  }

  /** How far an upload is. */
  uploaded(artifact: string, options: CallOptions = {}): Promise<Upload> {
    return uploaded(this.transport, artifact, options.signal)
  }

  /** The uploads that take the account's quota, open and complete, page by page; the one that expires first is the first. */
  uploads(options: CallOptions = {}): AsyncGenerator<Upload> {
    return this.pages<Upload>(uploadsPath, new URLSearchParams(), options)
  }

  /** Deletes an upload with its bytes, which gives its part of the quota back. */
  async deleteUpload(artifact: string, options: CallOptions = {}): Promise<void> {
    const call = { method: 'DELETE', path: uploadPath(artifact), headers: options.headers, signal: options.signal }
    const tries = new Tries()
    for (let first = true; ; first = false) {
      try {
        await this.transport.once(call, answer<unknown>)
        return
      } catch (error) {
        if (!first && error instanceof UnitaskError && error.status === 404) return // the answer to the try before was lost
        await this.transport.pause(tries.next(error), error, options.signal)
      }
    }
  }

  private async *pages<T>(path: string, search: URLSearchParams, options: CallOptions): AsyncGenerator<T> {
    for (;;) {
      const { value } = await this.json<{ data: T[]; next_cursor: string | null }>('GET', `${path}?${search}`, options)
      yield* value.data
      if (value.next_cursor === null) return
      search.set('cursor', value.next_cursor)
    }
  }

  private create<C extends string>(request: TaskRequest<C>, options: SubmitOptions, tries: Tries): Promise<Task<C>> {
    const call = creation(request, options)
    const prefer = options.wait === undefined ? undefined : `wait=${options.wait}`
    const read = async (response: Response) => (await response.json()) as Task<C>
    return this.transport.send({ ...call, headers: { ...call.headers, prefer } }, read, tries)
  }

  /** One connection of a stream, to its end; without streams, what the task brings. */
  private async *connection<C extends string>(following: Following<C>): AsyncGenerator<StreamEvent<C>> {
    const { heard, options } = following
    const call = following.begin()
    if (following.silent) return yield* heardTask(await this.plain(following), heard)
    const watch = new Watch(this.transport.timeout, call.signal)
    try {
      const response = await this.transport.open(call, watch)
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
        const task = (await response.json()) as Task<C>
        yield* heardTask(task, heard)
        if (!ended(task)) yield* heardTask(await this.wait<C>(task.id, options), heard)
        return
      }
      for await (const { name, data } of events(response.body!, watch)) {
        if (name === 'delta') yield* heard.take(JSON.parse(data) as Delta)
        if (name === 'task') yield* heardTask(JSON.parse(data) as Task<C>, heard)
      }
      throw new Error('the stream ended before its task')
    } catch (error) {
      throw lost(error, call.signal, this.baseUrl)
    } finally {
      watch.end()
    }
  }

  /** The end of a task whose streams don't come through. */
  private async plain<C extends string>({ id, request, options, tries }: Following<C>): Promise<Task<C>> {
    const task = id === undefined ? await this.create(request, { wait: holding, ...options }, tries) : undefined
    return task !== undefined && ended(task) ? task : this.wait<C>(id ?? task!.id, options)
  }

  /** Runs a task by its stream, which names it at once: so an abort can cancel it. */
  private async runStreamed<C extends string>(request: TaskRequest<C>, options: CreateOptions & WaitOptions): Promise<SucceededTask<C>> {
    let last: Task<C> | undefined
    for await (const event of this.stream(request, options)) {
      if (event.type !== 'task') continue
      last = event.task
      options.onTask?.(last)
    }
    return last as SucceededTask<C>
  }

  /** Cancels what an aborted call has left, if its caller wants that. */
  private abandon(id: string | undefined, options: CreateOptions): void {
    if (id === undefined || !options.cancelOnAbort || !options.signal?.aborted) return
    this.cancel(id).catch(() => {}) // its caller has gone
  }

  private json<T>(method: string, path: string, options: CallOptions): Promise<{ value: T; headers: Headers }> {
    return this.transport.send({ method, path, headers: options.headers, signal: options.signal }, answer<T>)
  }
}

/** What of the query goes to the service. */
function searchOf({ state, capability, metadata, key, code, createdAfter, createdBefore, order }: ListQuery): URLSearchParams {
  const search = new URLSearchParams()
  const time = (at: Date | string | undefined) => (at instanceof Date ? at.toISOString() : at)
  const asked = { state, capability, key, code, order, created_after: time(createdAfter), created_before: time(createdBefore) }
  for (const [name, value] of Object.entries(asked)) if (value) search.set(name, value)
  for (const [name, text] of Object.entries(metadata ?? {})) search.set(`metadata.${name}`, text)
  return search
}

async function answer<T>(response: Response): Promise<{ value: T; headers: Headers }> {
  return { value: (response.status === 304 ? undefined : await response.json()) as T, headers: response.headers }
}

function withKey<O extends CreateOptions>(options: O): O {
  return { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() }
}
