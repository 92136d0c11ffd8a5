import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { Part, TextChatInput, ToolCalls } from '../capabilities.js'
import { UnsupportedError } from './errors.js'
import { mediaOfPart } from './media.js'
import { providerName, type Draft } from './model.js'

type Message = NonNullable<TextChatInput['messages']>[number]

/** The service's messages of a prompt. */
export function messagesOf(prompt: LanguageModelV4Prompt, draft: Draft): Message[] {
  return prompt.flatMap((message): Message[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.content }]
      case 'user':
        return [{ role: 'user', content: userContent(message.content, draft) }]
      case 'assistant':
        return [assistant(message, draft)]
      case 'tool':
        return toolResults(message, draft)
    }
  })
}

function userContent(parts: Extract<LanguageModelV4Message, { role: 'user' }>['content'], draft: Draft): string | Part[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text') return first.text
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : filePart(part, draft)))
}

const documents = ['application/pdf', 'text/plain', 'text/markdown']

function filePart(part: LanguageModelV4FilePart, draft: Draft): Part {
  draft.unsupported('filename', part.filename, 'the service takes files without their names')
  const [kind] = part.mediaType.split('/')
  const text = part.data.type === 'text' && !part.mediaType.includes('/')
  const media = mediaOfPart(part.data, text ? 'text/plain' : part.mediaType)
  if (kind === 'image') return { type: 'image', image: media }
  if (kind === 'audio') return { type: 'audio', audio: media }
  if (text || documents.includes(part.mediaType)) return { type: 'document', document: media }
  throw new UnsupportedError(`file parts of ${part.mediaType}`)
}

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>

function assistant(message: Assistant, draft: Draft): Message {
  let text = ''
  let state: string | undefined
  const calls: ToolCalls = []
  for (const part of message.content) {
    const ours = part.providerOptions?.[providerName]
    if (typeof ours?.state === 'string') state = ours.state
    switch (part.type) {
      case 'text':
        text += part.text
        break
      case 'reasoning': // the state has the thoughts for the model that had them
        if (ours === undefined) draft.unsupported('reasoning parts of other providers', part.text)
        break
      case 'tool-call':
        if (part.providerExecuted) throw new UnsupportedError('calls of tools that a provider runs')
        calls.push({ id: part.toolCallId, name: part.toolName, arguments: argumentsOf(part.input) })
        break
      default:
        throw new UnsupportedError(`${part.type} parts of an assistant's message`)
    }
  }
  const content = text === '' && calls.length > 0 ? undefined : text
  return { role: 'assistant', content, tool_calls: calls.length > 0 ? calls : undefined, state }
}

/** Arguments are an object, or the model's own words. */
function argumentsOf(input: unknown): string | Record<string, unknown> {
  if (typeof input === 'string') return input
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>
  return JSON.stringify(input ?? {})
}

function toolResults(message: Extract<LanguageModelV4Message, { role: 'tool' }>, draft: Draft): Message[] {
  return message.content.flatMap((part): Message[] => {
    if (part.type === 'tool-approval-response') {
      draft.unsupported('approvals of tools that a provider runs', part.approvalId)
      return []
    }
    return [{ role: 'tool', tool_call_id: part.toolCallId, content: resultText(part.output) }]
  })
}

function resultText(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value)
    case 'execution-denied':
      return output.reason ?? 'The tool was not allowed to run.'
    case 'content':
      return output.value.map((part) => {
        if (part.type !== 'text') throw new UnsupportedError(`${part.type} parts in the result of a tool`)
        return part.text
      }).join('\n')
  }
}
