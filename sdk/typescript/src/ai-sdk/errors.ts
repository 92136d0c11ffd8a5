import { UnitaskError, type ErrorCode } from '../errors.js'

// The AI SDK knows its errors by these marks, so that there is no need of its code at run time.
const anyError = Symbol.for('vercel.ai.error')
const callError = Symbol.for('vercel.ai.error.AI_APICallError')
const unsupportedError = Symbol.for('vercel.ai.error.AI_UnsupportedFunctionalityError')

const statuses: Partial<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  AUTHORIZATION_REQUIRED: 403,
  NOT_FOUND: 404,
  IDEMPOTENCY_CONFLICT: 409,
  CONTENT_POLICY_VIOLATION: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL: 500,
  PROVIDER_UNAVAILABLE: 502,
  CAPACITY_EXHAUSTED: 503,
  PROVIDER_TIMEOUT: 504,
}

/** An APICallError of the AI SDK. Its cause is the UnitaskError, whose code decides. */
export class CallError extends Error {
  override readonly name = 'AI_APICallError'
  readonly [anyError] = true
  readonly [callError] = true
  readonly url: string
  /** The capability alone: no prompt stands in an error. */
  readonly requestBodyValues: unknown
  readonly statusCode: number | undefined
  readonly responseHeaders: Record<string, string> | undefined
  readonly responseBody: string | undefined
  /**
   * Whether the AI SDK may call again. This provider has already sent the request again under its key; a further call
   * has a key of its own and might pay twice, unless its caller has given the key.
   */
  readonly isRetryable: boolean
  readonly data: unknown

  constructor(failure: UnitaskError, url: string, capability: string, keyed: boolean) {
    super(`${failure.code}: ${failure.message}${rows(failure)}`, { cause: failure })
    this.url = url
    this.requestBodyValues = { capability }
    this.statusCode = failure.status ?? statuses[failure.code]
    this.responseHeaders = failure.requestId === undefined ? undefined : { 'x-request-id': failure.requestId }
    this.responseBody = undefined
    this.isRetryable = keyed && failure.retryable
    const { code, requestId, taskId, retryable, details } = failure
    this.data = { code, requestId, taskId, retryable, details }
  }
}

/** An UnsupportedFunctionalityError of the AI SDK. */
export class UnsupportedError extends Error {
  override readonly name = 'AI_UnsupportedFunctionalityError'
  readonly [anyError] = true
  readonly [unsupportedError] = true

  constructor(
    readonly functionality: string,
    message = `'${functionality}' functionality not supported.`,
  ) {
    super(message)
  }
}

function rows(failure: UnitaskError): string {
  const text = failure.details.map((row) => `${row.field} ${row.message}`).join('; ')
  return text && ` (${text})`
}
