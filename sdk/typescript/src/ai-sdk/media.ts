import type { SharedV4FileData } from '@ai-sdk/provider'
import type { Media } from '../capabilities.js'
import { UnsupportedError } from './errors.js'
import { providerName } from './model.js'

/** A file as the AI SDK's models other than those of language get it. */
export type ModelFile =
  | { type: 'file'; mediaType: string; data: string | Uint8Array }
  | { type: 'url'; url: string; mediaType?: string }

/** A media value of bytes: base64 or raw. */
export function mediaOfBytes(data: string | Uint8Array, mediaType: string): Media {
  const base64 = typeof data === 'string' ? data : base64Of(data)
  return { data: base64, content_type: exact(mediaType, base64) }
}

/** A media value of an address, which the service fetches, or of a data URL. */
export function mediaOfAddress(address: string, mediaType = ''): Media {
  const [, type, data] = /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(address) ?? []
  if (data !== undefined) return mediaOfBytes(data, type || mediaType)
  if (/^https?:/i.test(address)) return { url: address }
  throw new UnsupportedError(`files at addresses of ${address.slice(0, address.indexOf(':') + 1)}`)
}

export function mediaOfFile(file: ModelFile): Media {
  return file.type === 'url' ? mediaOfAddress(file.url, file.mediaType) : mediaOfBytes(file.data, file.mediaType)
}

/** A media value of a part of a prompt. A reference is the id of an artifact, such as that of an upload. */
export function mediaOfPart(data: SharedV4FileData, mediaType: string): Media {
  switch (data.type) {
    case 'data':
      return mediaOfBytes(data.data, mediaType)
    case 'url':
      return mediaOfAddress(data.originalUrl ?? data.url.href, mediaType)
    case 'text':
      return mediaOfBytes(new TextEncoder().encode(data.text), mediaType)
    case 'reference': {
      const artifact = data.reference[providerName]
      if (artifact === undefined) throw new UnsupportedError('references to files of other providers')
      return { artifact }
    }
  }
}

/** The bytes of base64. */
export function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data
}

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

/** A media type without its star: of an image, by its first bytes. */
function exact(mediaType: string, base64: string): string {
  if (mediaType !== 'image' && mediaType !== 'image/*') return mediaType
  if (base64.startsWith('iVBORw0KGgo')) return 'image/png'
  if (base64.startsWith('/9j/')) return 'image/jpeg'
  if (base64.startsWith('UklGR')) return 'image/webp'
  throw new UnsupportedError(`files of ${mediaType}`)
}
