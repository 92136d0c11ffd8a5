import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import type { StreamEvent } from '../following.js'
import type { Task, TaskRequest } from '../types.js'
import { callsOf, finishOf, ours, sourcesOf, stateOf, usageOf } from './language.js'
import { metadataOf, response, type Draft } from './model.js'

type Chat = Task<'text.chat'>
type Event = StreamEvent<'text.chat'>

/** The stream of an answer. It begins once the service has taken the request, or is the service's refusal. */
export async function parts(client: Unitask, draft: Draft, raw: boolean): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const left = new AbortController()
  const { signal: outer, ...options } = draft.callOptions
  const signal = outer ? AbortSignal.any([outer, left.signal]) : left.signal
  const source = client.stream(draft.request as TaskRequest<'text.chat'>, { ...options, signal })
  const first = await source.next().catch((error) => {
    throw draft.failure(error, client)
  })
  const told = tell(first, source, draft, raw)
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      try {
        const { done, value } = await told.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        if (signal.aborted) return controller.error(error)
        controller.enqueue({ type: 'error', error: draft.failure(error, client) })
        controller.close()
      }
    },
    cancel() {
      left.abort()
      told.return(undefined).catch(() => {})
    },
  })
}

async function* tell(
  first: IteratorResult<Event>,
  source: AsyncGenerator<Event>,
  draft: Draft,
  raw: boolean,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: draft.warnings }
  const blocks = new Blocks()
  let task: Chat | undefined
  for (let next = first; !next.done; next = await source.next()) {
    const event = next.value
    if (raw) yield { type: 'raw', rawValue: event }
    if (event.type === 'task') {
      if (task === undefined) yield { type: 'response-metadata', ...response(event.task) }
      task = event.task
    } else {
      yield* blocks.take(event)
    }
  }
  if (task === undefined) throw new Error('the stream of a task had no task')
  const calls = callsOf(task)
  yield* blocks.end(calls.length > 0 ? ours : stateOf(task))
  yield* calls
  yield* sourcesOf(task)
  yield { type: 'finish', usage: usageOf(task), finishReason: finishOf(task), providerMetadata: metadataOf(task) }
}

/** The open blocks of text, thoughts and calls. */
class Blocks {
  private open: 'text' | 'reasoning' | undefined
  private count = 0
  private readonly calls = new Map<number, string>()

  private get id(): string {
    return String(this.count)
  }

  *take(event: Exclude<Event, { type: 'task' }>): Generator<LanguageModelV4StreamPart> {
    switch (event.type) {
      case 'restart':
        throw new Error('the work began anew, and the text so far does not count')
      case 'tool_call':
        yield* this.close()
        if (!this.calls.has(event.index)) {
          this.calls.set(event.index, event.id)
          yield { type: 'tool-input-start', id: event.id, toolName: event.name }
        }
        yield { type: 'tool-input-delta', id: event.id, delta: event.arguments }
        return
      default:
        if (this.open !== event.type) {
          yield* this.close()
          this.open = event.type
          this.count++
          yield { type: `${event.type}-start`, id: this.id, providerMetadata: ours }
        }
        yield { type: `${event.type}-delta`, id: this.id, delta: event.text }
    }
  }

  /** Ends the blocks; the last one has the metadata. */
  *end(metadata: SharedV4ProviderMetadata): Generator<LanguageModelV4StreamPart> {
    yield* this.close(metadata)
    for (const id of this.calls.values()) yield { type: 'tool-input-end', id }
  }

  private *close(providerMetadata?: SharedV4ProviderMetadata): Generator<LanguageModelV4StreamPart> {
    if (this.open === undefined) return
    yield { type: `${this.open}-end`, id: this.id, providerMetadata }
    this.open = undefined
  }
}
