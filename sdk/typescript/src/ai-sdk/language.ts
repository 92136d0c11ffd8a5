import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import type { TextChatOutput } from '../capabilities.js'
import type { Unitask } from '../client.js'
import type { Task, Usage } from '../types.js'
import { UnsupportedError } from './errors.js'
import { Draft, metadataOf, providerName, response } from './model.js'
import { messagesOf } from './prompt.js'
import { parts } from './stream.js'

type Chat = Task<'text.chat'>

/** A language model: text.chat or a tier of it. */
export class LanguageModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.chat`
  /** The service fetches public addresses itself. */
  readonly supportedUrls = Object.fromEntries(
    ['image/*', 'audio/*', 'application/pdf', 'text/plain', 'text/markdown'].map((type) => [type, [/^https:\/\//]]),
  )

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const draft = draftOf(this.modelId, options)
    const task = await draft.run<'text.chat'>(this.client)
    return {
      content: contentOf(task),
      finishReason: finishOf(task),
      usage: usageOf(task),
      providerMetadata: metadataOf(task),
      request: { body: draft.request },
      response: { ...response(task), body: task },
      warnings: draft.warnings,
    }
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const draft = draftOf(this.modelId, options)
    const stream = await parts(this.client, draft, options.includeRawChunks ?? false)
    return { stream, request: { body: draft.request } }
  }
}

/** The service's request for a call. */
function draftOf(modelId: string, options: LanguageModelV4CallOptions): Draft {
  const draft = new Draft(modelId, options)
  const { parameters } = draft
  draft.unsupported('topK', options.topK)
  draft.unsupported('presencePenalty', options.presencePenalty || undefined)
  draft.unsupported('frequencyPenalty', options.frequencyPenalty || undefined)
  draft.input.messages = messagesOf(options.prompt, draft)
  parameters.max_output_tokens = options.maxOutputTokens
  parameters.temperature = options.temperature
  parameters.top_p = options.topP
  parameters.stop = options.stopSequences?.length ? options.stopSequences : undefined
  parameters.seed = options.seed
  takeReasoning(options.reasoning, draft)
  takeFormat(options.responseFormat, draft)
  takeTools(options, draft)
  return draft.own()
}

function takeReasoning(reasoning: LanguageModelV4CallOptions['reasoning'], draft: Draft): void {
  if (reasoning === undefined || reasoning === 'provider-default') return
  const nearest = { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' }[reasoning]
  if (nearest !== reasoning) draft.compatible('reasoning', `"${reasoning}" is taken as "${nearest}"`)
  draft.parameters.reasoning = nearest
}

function takeFormat(format: LanguageModelV4CallOptions['responseFormat'], draft: Draft): void {
  if (format?.type !== 'json') return
  if (format.schema === undefined) {
    draft.compatible('responseFormat', 'JSON without a schema is always an object')
    draft.parameters.output_schema = { type: 'object' }
    return
  }
  const { $schema: _, ...schema } = format.schema as JSONObject
  draft.parameters.output_schema = {
    ...(format.name === undefined ? {} : { title: format.name }),
    ...(format.description === undefined ? {} : { description: format.description }),
    ...schema,
  }
}

function takeTools({ tools, toolChoice }: LanguageModelV4CallOptions, draft: Draft): void {
  const functions = (tools ?? []).flatMap((tool) => {
    if (tool.type === 'provider') {
      draft.unsupported(`provider-defined tool ${tool.id}`, true)
      return []
    }
    draft.unsupported(`inputExamples of tool ${tool.name}`, tool.inputExamples)
    const { $schema: _, ...parameters } = tool.inputSchema as JSONObject
    return [{ name: tool.name, description: tool.description, parameters, strict: tool.strict }]
  })
  if (functions.length === 0) {
    draft.unsupported('toolChoice', toolChoice?.type === 'required' || toolChoice?.type === 'tool' || undefined, 'there are no tools')
    return
  }
  draft.parameters.tools = functions
  draft.parameters.tool_choice = toolChoice?.type === 'tool' ? named(toolChoice.toolName) : toolChoice?.type
}

function named(tool: string): string {
  if (['auto', 'none', 'required'].includes(tool)) throw new UnsupportedError(`toolChoice of a tool called ${tool}`)
  return tool
}

/** The content of an answer. Its last part has the state, which goes back with the next turn. */
function contentOf(task: Chat): LanguageModelV4Content[] {
  const output = task.output as TextChatOutput
  const content: LanguageModelV4Content[] = []
  if (output.reasoning) content.push({ type: 'reasoning', text: output.reasoning, providerMetadata: ours })
  if (output.text) content.push({ type: 'text', text: output.text, providerMetadata: ours })
  content.push(...callsOf(task))
  const last = content.at(-1)
  if (last !== undefined) content[content.length - 1] = { ...last, providerMetadata: stateOf(task) }
  return [...content, ...sourcesOf(task)]
}

/** The calls of tools; the last one has the state. */
export function callsOf(task: Chat): Array<Extract<LanguageModelV4Content, { type: 'tool-call' }>> {
  return (task.output?.tool_calls ?? []).map((call, index, all) => ({
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    providerMetadata: index === all.length - 1 ? stateOf(task) : ours,
  }))
}

export function sourcesOf(task: Chat): Array<Extract<LanguageModelV4Content, { type: 'source' }>> {
  return (task.output?.citations ?? []).map((page, index) => ({
    type: 'source',
    sourceType: 'url',
    id: `${task.id}-${index}`,
    url: page.url,
    title: page.title,
    providerMetadata: page.text === undefined ? undefined : { [providerName]: { text: page.text } },
  }))
}

/** Marks a part as this provider's. */
export const ours: SharedV4ProviderMetadata = { [providerName]: {} }

/** The answer's state, if it has one. */
export function stateOf(task: Chat): SharedV4ProviderMetadata {
  const state = task.output?.state
  return state === undefined ? ours : { [providerName]: { state } }
}

export function finishOf(task: Chat): LanguageModelV4FinishReason {
  const raw = task.output?.finish_reason
  const unified = ({ stop: 'stop', length: 'length', tool_calls: 'tool-calls', content_filter: 'content-filter' } as const)[raw ?? 'stop']
  return { unified: unified ?? 'other', raw }
}

export function usageOf(task: Chat): LanguageModelV4Usage {
  const { input_tokens: input, output_tokens: output, ...kinds }: Partial<Usage> = task.usage ?? {}
  const { cached_input_tokens: cacheRead = 0, cache_write_tokens: cacheWrite = 0, reasoning_tokens: reasoning = 0 } = kinds
  return {
    inputTokens: { total: input, noCache: input && input - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output && output - reasoning, reasoning },
    raw: task.usage === null ? undefined : (task.usage as unknown as JSONObject),
  }
}
