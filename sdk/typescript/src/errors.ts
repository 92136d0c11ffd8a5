import type { Task } from './types.js'

/** The service's codes. */
export type ServiceCode =
  | 'INVALID_REQUEST'
  | 'UNAUTHENTICATED'
  | 'AUTHORIZATION_REQUIRED'
  | 'NOT_FOUND'
  | 'IDEMPOTENCY_CONFLICT'
  | 'CONTENT_POLICY_VIOLATION'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL'
  | 'PROVIDER_UNAVAILABLE'
  | 'CAPACITY_EXHAUSTED'
  | 'PROVIDER_TIMEOUT'

/**
 * The service's codes, and the library's own: no answer arrived, the answer isn't the service's (a proxy's, say), the
 * task was canceled, a file isn't the one that was announced.
 */
export type ErrorCode = ServiceCode | 'CONNECTION_LOST' | 'UNEXPECTED_ANSWER' | 'CANCELED' | 'FILE_DIFFERS'

/** What is wrong with one field. */
export interface ErrorDetail {
  field: string
  message: string
}

export interface ErrorInit {
  code: ErrorCode
  message: string
  retryable?: boolean
  status?: number
  requestId?: string
  taskId?: string
  details?: ErrorDetail[]
  /** Seconds. */
  retryAfter?: number
  cause?: unknown
}

/** Every failure but an abort, whose reason is thrown as it is. Decide by its code, never by its message. */
export class UnitaskError extends Error {
  override readonly name = 'UnitaskError'
  readonly code: ErrorCode
  /** Whether the same request may be sent again under the same key. It was, within this library's bounds. */
  readonly retryable: boolean
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** For support. */
  readonly requestId: string | undefined
  /** The task that failed, if there is one. */
  readonly taskId: string | undefined
  /** One row a field. */
  readonly details: ErrorDetail[]
  /** Seconds, as the service advises. */
  readonly retryAfter: number | undefined

  constructor(init: ErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause })
    this.code = init.code
    this.retryable = init.retryable ?? false
    this.status = init.status
    this.requestId = init.requestId
    this.taskId = init.taskId
    this.details = init.details ?? []
    this.retryAfter = init.retryAfter
  }
}

/** The failure of a task that ended without a result. */
export function failureOf(task: Task): UnitaskError {
  if (task.error === null) {
    const message = `the task ended as ${task.state}`
    return new UnitaskError({ code: 'CANCELED', message, taskId: task.id, requestId: task.request_id })
  }
  const { code, message, retryable, details, retry_after_seconds: retryAfter } = task.error
  return new UnitaskError({ code, message, retryable, details, retryAfter, taskId: task.id, requestId: task.request_id })
}

/** The failure that an answer with an error's status is. */
export async function failureIn(response: Response): Promise<UnitaskError> {
  const { status, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  const text = await response.text()
  const value = parsed(text) as { error?: unknown; request_id?: string; task_id?: string } | undefined
  const error = value?.error as
    | { code?: unknown; message?: unknown; retryable?: boolean; details?: unknown; retry_after_seconds?: number }
    | undefined
  if (typeof error?.code !== 'string') {
    const retryable = status === 429 || status === 502 || status === 503 || status === 504
    const message = `an answer of status ${status} that isn't the service's`
    return new UnitaskError({ code: 'UNEXPECTED_ANSWER', message, status, retryable, requestId, retryAfter: advice(headers) })
  }
  return new UnitaskError({
    code: error.code as ErrorCode,
    message: String(error.message),
    retryable: error.retryable === true,
    status,
    requestId: value?.request_id ?? requestId,
    taskId: value?.task_id,
    details: Array.isArray(error.details) ? error.details : [],
    retryAfter: error.retry_after_seconds ?? advice(headers),
  })
}

/** The seconds of Retry-After. */
export function advice(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? NaN)
  return seconds >= 0 ? seconds : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
