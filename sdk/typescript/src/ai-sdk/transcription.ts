import type { JSONObject, TranscriptionModelV4, TranscriptionModelV4CallOptions, TranscriptionModelV4Result } from '@ai-sdk/provider'
import type { Media, Pieces } from '../capabilities.js'
import type { Unitask } from '../client.js'
import { mediaOfAddress, mediaOfBytes } from './media.js'
import { Draft, metadataOf, providerName, response } from './model.js'

type AddressOptions = Omit<TranscriptionModelV4CallOptions, 'audio' | 'mediaType'> & { audio: URL }

/** A transcription model: audio.transcribe or a tier of it. */
export class TranscriptionModel implements TranscriptionModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.transcription`

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  doGenerate(options: TranscriptionModelV4CallOptions): Promise<TranscriptionModelV4Result> {
    return this.transcribe(mediaOfBytes(options.audio, options.mediaType), options)
  }

  /** The service fetches public addresses itself; others are the caller's to fetch. */
  async doGenerateFromUrl(options: AddressOptions): Promise<TranscriptionModelV4Result | undefined> {
    if (options.audio.protocol !== 'https:') return undefined
    return this.transcribe(mediaOfAddress(options.audio.href), options)
  }

  private async transcribe(audio: Media, options: Omit<AddressOptions, 'audio'>): Promise<TranscriptionModelV4Result> {
    const draft = new Draft(this.modelId, options)
    const wanted = options.timestampGranularities ?? []
    const [words, segments] = [wanted.includes('word'), wanted.includes('segment')]
    draft.input.audio = audio
    if (words || segments) draft.parameters.timestamps = words && segments ? 'both' : words ? 'word' : 'segment'
    const task = await draft.own().run<'audio.transcribe'>(this.client)
    const wordsAlone = draft.parameters.timestamps === 'word'
    const pieces = task.output.segments ?? []
    const { timestamp, modelId, headers } = response(task)
    return {
      text: task.output.text,
      segments: wordsAlone ? [] : timed(pieces),
      words: wordsAlone ? timed(pieces) : task.output.words && timed(task.output.words),
      language: undefined,
      durationInSeconds: task.usage?.seconds,
      warnings: draft.warnings,
      usage: task.usage === null ? undefined : (task.usage as unknown as JSONObject),
      response: { timestamp, modelId, headers, body: task },
      providerMetadata: metadataOf(task, speakersOf(pieces)),
    }
  }
}

function timed(pieces: Pieces): TranscriptionModelV4Result['segments'] {
  return pieces.map(({ text, start, end }) => ({ text, startSecond: start, endSecond: end }))
}

/** The speakers of the segments, for which the AI SDK has no member. */
function speakersOf(pieces: Pieces): JSONObject {
  if (!pieces.some((piece) => piece.speaker !== undefined)) return {}
  return { speakers: pieces.map((piece) => piece.speaker ?? null) }
}
