import type { JSONObject, SharedV4Headers, SharedV4ProviderMetadata, SharedV4Warning } from '@ai-sdk/provider'
import type { CreateOptions, Unitask } from '../client.js'
import { UnitaskError } from '../errors.js'
import type { Task, TaskRequest } from '../types.js'
import { CallError } from './errors.js'

/** The provider's name: that of its options and metadata. */
export const providerName = 'unitask'

/** The part of the AI SDK's options that every model has. */
export interface ModelOptions {
  abortSignal?: AbortSignal
  headers?: Record<string, string | undefined>
  providerOptions?: Record<string, JSONObject>
}

/** A request that is being put together, with the warnings about what it can't say. */
export class Draft {
  readonly warnings: SharedV4Warning[] = []
  readonly input: Record<string, unknown> = {}
  readonly parameters: Record<string, unknown> = {}
  private metadata: Record<string, string> | undefined
  private key: string | undefined

  constructor(
    readonly capability: string,
    private readonly options: ModelOptions,
  ) {}

  /** A setting that has no effect here. */
  unsupported(feature: string, value: unknown, details?: string): void {
    if (value !== undefined) this.warnings.push({ type: 'unsupported', feature, details })
  }

  /** A setting that has another effect than the one asked for. */
  compatible(feature: string, details: string): void {
    this.warnings.push({ type: 'compatibility', feature, details })
  }

  /** Takes the caller's own members: input, parameters, metadata and idempotencyKey of providerOptions.unitask. */
  own(): this {
    const { input, parameters, metadata, idempotencyKey, ...others } = this.options.providerOptions?.[providerName] ?? {}
    Object.assign(this.input, input)
    Object.assign(this.parameters, parameters)
    this.metadata = metadata as Record<string, string> | undefined
    this.key = (idempotencyKey as string | undefined) ?? this.headerKey()
    for (const name of Object.keys(others)) this.unsupported(`providerOptions.${providerName}.${name}`, true)
    return this
  }

  get request(): TaskRequest {
    const { capability, input, parameters, metadata } = this
    const defined = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined))
    return { capability, input, parameters: defined, metadata }
  }

  get callOptions(): CreateOptions {
    const { abortSignal: signal, headers } = this.options
    const rest = Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() !== 'idempotency-key')
    return { signal, headers: Object.fromEntries(rest), idempotencyKey: this.key, cancelOnAbort: true }
  }

  /** The AI SDK's error for a failure. */
  failure(error: unknown, client: Unitask): unknown {
    if (!(error instanceof UnitaskError)) return error
    return new CallError(error, `${client.baseUrl}/api/ai/v1/tasks`, this.capability, this.key !== undefined)
  }

  /** Runs the task. */
  async run<C extends string>(client: Unitask): Promise<Task<C> & { output: NonNullable<Task<C>['output']> }> {
    try {
      return await client.run<C>(this.request as TaskRequest<C>, this.callOptions)
    } catch (error) {
      throw this.failure(error, client)
    }
  }

  private headerKey(): string | undefined {
    return Object.entries(this.options.headers ?? {}).find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1]
  }
}

/** The part of a result that tells of the response. */
export function response(task: Task): { id: string; timestamp: Date; modelId: string; headers: SharedV4Headers } {
  const headers: SharedV4Headers = task.request_id === undefined ? {} : { 'x-request-id': task.request_id }
  return { id: task.id, timestamp: new Date(task.created_at), modelId: task.capability, headers }
}

/** The task's id, the id for support, and the cost. */
export function metadataOf(task: Task, more: JSONObject = {}): SharedV4ProviderMetadata {
  const about: JSONObject = { taskId: task.id }
  if (task.request_id !== undefined) about.requestId = task.request_id
  if (task.usage !== null) about.cost = { ...task.usage.cost }
  return { [providerName]: { ...about, ...more } }
}

/** The tokens of an image or other call, if there are any. */
export function tokens(task: Task): { inputTokens?: number; outputTokens?: number; totalTokens?: number } {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = task.usage ?? {}
  const total = (inputTokens ?? 0) + (outputTokens ?? 0)
  return { inputTokens, outputTokens, totalTokens: total || undefined }
}
