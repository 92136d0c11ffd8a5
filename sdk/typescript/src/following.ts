import type { CreateOptions } from './client.js'
import { failureOf, UnitaskError } from './errors.js'
import { Heard, type Piece } from './heard.js'
import type { Call } from './transport.js'
import { Tries } from './tries.js'
import { ended, type Task, type TaskRequest } from './types.js'

/** What a stream brings: pieces of the result, and the task whenever it changes. */
export type StreamEvent<C extends string = string> = Piece | { type: 'task'; task: Task<C> }

export const tasksPath = '/api/ai/v1/tasks'

const foreign = ['CONNECTION_LOST', 'UNEXPECTED_ANSWER']

/** A task that is followed over as many connections as it takes. */
export class Following<C extends string> {
  readonly heard = new Heard()
  readonly tries = new Tries()
  /** The task's, once it is known. */
  id: string | undefined
  /** The connection before brought no event: somebody on the way lets no streams through. */
  silent = false
  private events = 0
  private read = 0 // when the last read began

  constructor(
    readonly request: TaskRequest<C>,
    readonly options: CreateOptions,
  ) {}

  /** The call of a new connection. A creation is answered at once, so that its task is known whatever comes. */
  begin(): Call {
    this.events = 0
    this.heard.join()
    const { headers, signal } = this.options
    const streamed = { ...headers, accept: 'text/event-stream' }
    if (this.id !== undefined) {
      this.read = Date.now()
      return { method: 'GET', path: path(this.id), headers: streamed, signal }
    }
    const call = creation(this.request, this.options)
    return { ...call, headers: { ...call.headers, ...streamed, prefer: 'wait=0' } }
  }

  hear(event: StreamEvent<C>): void {
    this.events++
    this.tries.answered()
    if (event.type === 'task') this.id = event.task.id
  }

  /** The pause before the next connection; undefined if there is none. A failed task is created again only unheard. */
  next(error: unknown): number | undefined {
    const failed = error instanceof UnitaskError && error.taskId !== undefined
    if (failed && !this.heard.silent) return undefined
    const pause = this.tries.next(error)
    this.silent = this.events === 0 && error instanceof UnitaskError && foreign.includes(error.code)
    if (failed) this.id = undefined
    if (pause === undefined || this.id === undefined) return pause
    return Math.max(pause, this.read + 2000 + 1000 * Math.random() - Date.now())
  }
}

/** A task that has come: if it has ended, with the pieces that are lacking, or as its failure. */
export function* heardTask<C extends string>(task: Task<C>, heard: Heard): Generator<StreamEvent<C>> {
  if (ended(task) && task.state !== 'succeeded') throw failureOf(task)
  if (task.state === 'succeeded') yield* heard.finish(task)
  yield { type: 'task', task }
}

export function creation(request: TaskRequest, options: CreateOptions): Call {
  const headers = { ...options.headers, 'idempotency-key': options.idempotencyKey }
  return { method: 'POST', path: tasksPath, headers, body: request, signal: options.signal }
}

export function path(id: string): string {
  return `${tasksPath}/${encodeURIComponent(id)}`
}
