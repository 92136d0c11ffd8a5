import type { Watch } from './transport.js'

/** An event of a stream. */
export interface ServerEvent {
  name: string
  data: string
}

/** Reads server-sent events until the body ends. A comment counts as a sign of life. */
export async function* events(body: ReadableStream<Uint8Array>, watch: Watch): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let name = ''
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      watch.begin()
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
        if (field === 'event') name = text ?? ''
        else if (field === 'data') data.push(text ?? '')
        else if (line === '') {
          if (data.length > 0) yield { name, data: data.join('\n') }
          name = ''
          data = []
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
