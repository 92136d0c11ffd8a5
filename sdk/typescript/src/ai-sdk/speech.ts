import type { JSONObject, SpeechModelV4, SpeechModelV4CallOptions, SpeechModelV4Result } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { Draft, metadataOf, providerName, response } from './model.js'

const formats = ['wav', 'mp3', 'opus', 'aac', 'flac']

/** A speech model: audio.speech or a tier of it. */
export class SpeechModel implements SpeechModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.speech`

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  async doGenerate(options: SpeechModelV4CallOptions): Promise<SpeechModelV4Result> {
    const draft = new Draft(this.modelId, options)
    const { outputFormat } = options
    draft.input.text = options.text
    draft.input.instructions = options.instructions
    draft.parameters.voice = options.voice
    draft.parameters.speed = options.speed
    if (outputFormat === undefined || formats.includes(outputFormat)) draft.parameters.format = outputFormat
    else draft.unsupported('outputFormat', outputFormat, `"${outputFormat}" is none of ${formats.join(', ')}; the recording is a wav`)
    draft.unsupported('language', options.language, 'the text tells its language')
    const task = await draft.own().run<'audio.speech'>(this.client)
    const audio = await this.client.download(task.output.audio, { signal: options.abortSignal }).catch((error) => {
      throw draft.failure(error, this.client)
    })
    const { timestamp, modelId, headers } = response(task)
    return {
      audio,
      warnings: draft.warnings,
      usage: task.usage === null ? undefined : (task.usage as unknown as JSONObject),
      request: { body: draft.request },
      response: { timestamp, modelId, headers, body: task },
      providerMetadata: metadataOf(task),
    }
  }
}
