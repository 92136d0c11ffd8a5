import { UnitaskError } from './errors.js'

// The bounds of retries, as the service's own client has them.
const most = 6 // sends of one request
const mostReopenings = 2 // of a task that failed, below the five that the service grants a key
const mostPausing = 3 * 60_000 // from the first failure to the last try
const longestAdvice = 60_000
const firstPause = 500
const longestPause = 20_000

/** Decides whether to send a request again, and when. */
export class Tries {
  private sent = 0
  private reopened = 0
  private since: number | undefined

  /** The milliseconds to pause before the next try; undefined if there is none. */
  next(error: unknown, now = Date.now()): number | undefined {
    if (!(error instanceof UnitaskError) || !error.retryable) return undefined
    this.since ??= now
    this.sent++
    if (error.taskId !== undefined && ++this.reopened > mostReopenings) return undefined
    const advised = 1000 * (error.retryAfter ?? 0)
    const pause = advised + Math.random() * Math.min(firstPause * 2 ** this.sent, longestPause)
    if (this.sent >= most || advised > longestAdvice || now + pause - this.since > mostPausing) return undefined
    return pause
  }

  /** Forgets the sends: an answer has come. */
  answered(): void {
    this.sent = 0
    this.since = undefined
  }
}

/** Pauses; an abort ends it with the signal's reason. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    if (signal?.aborted) return failed(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      failed(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      done()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
