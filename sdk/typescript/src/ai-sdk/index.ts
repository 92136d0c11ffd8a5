/** The provider for the AI SDK. Its models are the service's capabilities, and tiers of them. */
import type { ProviderV4 } from '@ai-sdk/provider'
import { Unitask } from '../client.js'
import type { Options } from '../transport.js'
import { EmbeddingModel } from './embedding.js'
import { Files } from './files.js'
import { ImageModel } from './image.js'
import { LanguageModel } from './language.js'
import { RerankingModel } from './reranking.js'
import { SpeechModel } from './speech.js'
import { TranscriptionModel } from './transcription.js'
import { VideoModel } from './video.js'

/** The provider. Called as a function it makes a language model. */
export interface UnitaskProvider extends ProviderV4 {
  (modelId?: string): LanguageModel
  languageModel(modelId?: string): LanguageModel
  embeddingModel(modelId?: string): EmbeddingModel
  imageModel(modelId?: string): ImageModel
  speechModel(modelId?: string): SpeechModel
  transcriptionModel(modelId?: string): TranscriptionModel
  videoModel(modelId?: string): VideoModel
  rerankingModel(modelId?: string): RerankingModel
  files(): Files
  /** As languageModel and so on. */
  chat(modelId?: string): LanguageModel
  embedding(modelId?: string): EmbeddingModel
  image(modelId?: string): ImageModel
  speech(modelId?: string): SpeechModel
  transcription(modelId?: string): TranscriptionModel
  video(modelId?: string): VideoModel
  reranking(modelId?: string): RerankingModel
}

/** Makes a provider of a service. */
export function createUnitask(options: Options | Unitask = {}): UnitaskProvider {
  const client = options instanceof Unitask ? options : new Unitask(options)
  const chat = (id = 'text.chat') => new LanguageModel(client, id)
  const embedding = (id = 'text.embed') => new EmbeddingModel(client, id)
  const image = (id = 'image.generate') => new ImageModel(client, id)
  const speech = (id = 'audio.speech') => new SpeechModel(client, id)
  const transcription = (id = 'audio.transcribe') => new TranscriptionModel(client, id)
  const video = (id = 'video.generate') => new VideoModel(client, id)
  const reranking = (id = 'text.rerank') => new RerankingModel(client, id)
  return Object.assign((id?: string) => chat(id), {
    specificationVersion: 'v4' as const,
    ...{ languageModel: chat, embeddingModel: embedding, imageModel: image, speechModel: speech, transcriptionModel: transcription },
    ...{ videoModel: video, rerankingModel: reranking, files: () => new Files(client) },
    ...{ chat, embedding, image, speech, transcription, video, reranking },
  })
}

export type { EmbeddingModel, Files, ImageModel, LanguageModel, RerankingModel, SpeechModel, TranscriptionModel, VideoModel }
export { CallError, UnsupportedError } from './errors.js'
