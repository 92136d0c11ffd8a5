import type { Task } from './types.js'

/** A piece of what a task makes, as it comes. */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** The pieces of one call, which its index names, add up to its arguments. */
  | { type: 'tool_call'; index: number; id: string; name: string; arguments: string }
  /** The pieces before don't count: the work began anew, and another text comes. */
  | { type: 'restart' }

/** The data of a delta event. */
export interface Delta {
  text?: string
  reasoning?: string
  tool_call?: { index: number; id: string; name: string; arguments: string }
}

/** Who joins a stream gets the text so far first; this tells each piece once, whatever the connections. */
export class Heard {
  private readonly threads = new Map<string, { told: string; heard: string }>()

  /** A connection begins, which tells everything from the beginning. */
  join(): void {
    for (const thread of this.threads.values()) thread.heard = ''
  }

  get silent(): boolean {
    return this.threads.size === 0
  }

  /** The pieces that a delta adds. */
  take(delta: Delta): Piece[] {
    if (delta.text !== undefined) return this.add('text', delta.text, (text) => ({ type: 'text', text }))
    if (delta.reasoning !== undefined) {
      return this.add('reasoning', delta.reasoning, (text) => ({ type: 'reasoning', text }))
    }
    const call = delta.tool_call
    if (call === undefined) return []
    return this.add(`call ${call.index}`, call.arguments, (text) => ({ type: 'tool_call', ...call, arguments: text }))
  }

  /** The pieces that are lacking when the task has succeeded. */
  finish(task: Task): Piece[] {
    const output = (task.output ?? {}) as { text?: unknown; reasoning?: unknown; tool_calls?: unknown }
    const pieces: Piece[] = []
    const whole = (thread: string, delta: Delta) => {
      const known = this.threads.get(thread)
      if (known) known.heard = ''
      pieces.push(...this.take(delta))
    }
    if (typeof output.reasoning === 'string') whole('reasoning', { reasoning: output.reasoning })
    if (typeof output.text === 'string' && output.text !== '') whole('text', { text: output.text })
    const calls = Array.isArray(output.tool_calls) ? output.tool_calls : []
    calls.forEach((call: { id: string; name: string; arguments: unknown }, index) => {
      if (this.threads.has(`call ${index}`)) return
      const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
      pieces.push(...this.take({ tool_call: { index, id: call.id, name: call.name, arguments: text } }))
    })
    return pieces
  }

  private add(name: string, text: string, piece: (text: string) => Piece): Piece[] {
    const thread = this.threads.get(name)
    if (thread === undefined) {
      this.threads.set(name, { told: text, heard: text })
      return [piece(text)]
    }
    const level = thread.heard.length === thread.told.length
    thread.heard += text
    if (!level && !thread.heard.startsWith(thread.told)) {
      if (thread.told.startsWith(thread.heard)) return []
      this.threads.clear()
      this.threads.set(name, { told: thread.heard, heard: thread.heard })
      return [{ type: 'restart' }, piece(thread.heard)]
    }
    const rest = level ? text : thread.heard.slice(thread.told.length)
    thread.told = thread.heard
    return rest === '' ? [] : [piece(rest)]
  }
}
