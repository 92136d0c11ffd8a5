import type { Capabilities } from './capabilities.js'
import type { ErrorCode, ErrorDetail } from './errors.js'

/** The input of a capability; of one that isn't built in, any object. */
export type InputOf<C extends string> = C extends keyof Capabilities ? Capabilities[C]['input'] : Record<string, unknown>

/** The parameters of a capability; of one that isn't built in, any object. */
export type ParametersOf<C extends string> = C extends keyof Capabilities
  ? Capabilities[C]['parameters']
  : Record<string, unknown>

/** The output of a capability; of one that isn't built in, any object. */
export type OutputOf<C extends string> = C extends keyof Capabilities ? Capabilities[C]['output'] : Record<string, unknown>

/** A request: which capability, with which input. */
export interface TaskRequest<C extends string = string> {
  capability: C
  input: InputOf<C>
  parameters?: ParametersOf<C>
  /** Up to 16 texts of your own, kept with the task. They are no part of what makes two requests the same. */
  metadata?: Record<string, string>
}

/** The last three are ends. */
export type State = 'queued' | 'running' | 'transferring' | 'succeeded' | 'failed' | 'canceled'

/** Why a task failed. */
export interface TaskError {
  code: ErrorCode
  message: string
  retryable: boolean
  details?: ErrorDetail[]
  retry_after_seconds?: number
}

/** The members that were measured, and what they cost. */
export interface Usage {
  input_tokens?: number
  output_tokens?: number
  cached_input_tokens?: number
  cache_write_tokens?: number
  image_input_tokens?: number
  audio_input_tokens?: number
  reasoning_tokens?: number
  image_output_tokens?: number
  audio_output_tokens?: number
  images?: number
  seconds?: number
  characters?: number
  pages?: number
  requests?: number
  searches?: number
  /** The amount is an exact decimal. */
  cost: { currency: string; amount: string }
}

/** The unit of work. */
export interface Task<C extends string = string> {
  id: string
  capability: C
  mode: 'live' | 'test'
  state: State
  /** 0 to 1, null where it isn't known. */
  progress: number | null
  created_at: string
  updated_at: string
  finished_at: string | null
  output: OutputOf<C> | null
  error: TaskError | null
  usage: Usage | null
  metadata?: Record<string, string>
  /** Of the answer that the task came with; absent in lists. */
  request_id?: string
}

/** A task that has its output. */
export type SucceededTask<C extends string = string> = Task<C> & {
  state: 'succeeded'
  output: OutputOf<C>
  usage: Usage
}

/** An entry of the directory. */
export interface Capability {
  name: string
  title: string
  description: string
  modality: string
  mode: 'sync' | 'async'
  input_schema: Record<string, unknown>
  parameters_schema: Record<string, unknown>
  output_schema: Record<string, unknown>
  example: TaskRequest
  price: Record<string, string>
}

/** Reports whether a task has ended. */
export function ended(task: Task): boolean {
  return task.state === 'succeeded' || task.state === 'failed' || task.state === 'canceled'
}
