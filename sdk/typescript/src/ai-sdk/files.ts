import type { FilesV4, FilesV4UploadFileCallOptions, FilesV4UploadFileResult } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { bytesOf } from './media.js'
import { Draft, providerName } from './model.js'

/** Uploads files for prompts that take them by reference. */
export class Files implements FilesV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.files`

  constructor(private readonly client: Unitask) {}

  async uploadFile(options: FilesV4UploadFileCallOptions): Promise<FilesV4UploadFileResult> {
    const { data, mediaType, abortSignal: signal } = options
    const draft = new Draft('uploads', options)
    draft.unsupported('filename', options.filename, 'the service takes files without their names')
    try {
      const upload = await this.client.upload(await blobOf(data, mediaType), { contentType: mediaType, signal })
      return {
        providerReference: { [providerName]: upload.artifact },
        mediaType: upload.content_type,
        byteSize: upload.bytes,
        expiresAt: new Date(upload.expires_at),
        warnings: draft.warnings,
      }
    } catch (error) {
      throw draft.failure(error, this.client)
    }
  }
}

function blobOf(data: FilesV4UploadFileCallOptions['data'], type: string): Promise<Blob> | Blob {
  if (data.type === 'stream') return new Response(data.stream).blob()
  return new Blob([data.type === 'text' ? data.text : new Uint8Array(bytesOf(data.data))], { type })
}
