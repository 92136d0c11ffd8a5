// Programs that the compiler judges, against the packed library alone.
import { ended, Unitask, UnitaskError, verifyWebhook, type SucceededTask, type TextChatOutput } from 'unitask'

const client = new Unitask({ baseUrl: 'https://ai.example.com', apiKey: 'x' })

const chat = await client.run({ capability: 'text.chat', input: { prompt: 'hello' }, parameters: { reasoning: 'low' } })
export const text: string = chat.output.text
export const finish: 'stop' | 'length' | 'tool_calls' | 'content_filter' = chat.output.finish_reason
export const same: SucceededTask<'text.chat'> & { output: TextChatOutput } = chat

const images = await client.run({ capability: 'image.edit', input: { prompt: 'blue', images: [{ url: 'https://example.com/a.png' }] } })
export const bytes: Uint8Array = await client.download(images.output.images[0]!)

const tier = await client.run({ capability: 'text.chat.fast', input: { anything: 1 } })
export const unknown: unknown = tier.output['text']

for await (const event of client.stream({ capability: 'text.chat', input: { messages: [{ role: 'user', content: 'hello' }] } })) {
  if (event.type === 'text') event.text.trim()
  if (event.type === 'task' && ended(event.task)) event.task.output?.text.trim()
}

try {
  await client.wait('task_x')
} catch (error) {
  if (error instanceof UnitaskError && error.code === 'NOT_FOUND') throw error
}

const event = await verifyWebhook({ body: '', headers: {}, secret: 'whsec_' })
export const ended_: string | undefined = event.type === 'webhook.test' ? undefined : event.data.id
// @ts-expect-error: a trial has no task
export const id: string = event.data.id

// @ts-expect-error: there is no such member
await client.run({ capability: 'text.chat', input: { prompts: 'hello' } })
// @ts-expect-error: it lacks its prompt
await client.run({ capability: 'image.generate', input: {} })
// @ts-expect-error: there is no such value
await client.run({ capability: 'image.generate', input: { prompt: 'x' }, parameters: { format: 'gif' } })
// @ts-expect-error: a media value is one of url, data and artifact
await client.run({ capability: 'image.upscale', input: { image: { url: 'https://example.com/a.png', artifact: 'art_x' } } })
// @ts-expect-error: there is no such state
export const done: boolean = chat.state === 'done'
