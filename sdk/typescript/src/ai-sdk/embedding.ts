import type { EmbeddingModelV4, EmbeddingModelV4CallOptions, EmbeddingModelV4Result } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { Draft, metadataOf, providerName, response } from './model.js'

/** An embedding model: text.embed or a tier of it. */
export class EmbeddingModel implements EmbeddingModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.embedding`
  readonly maxEmbeddingsPerCall = 2048
  readonly supportsParallelCalls = true

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  async doEmbed(options: EmbeddingModelV4CallOptions): Promise<EmbeddingModelV4Result> {
    const draft = new Draft(this.modelId, options)
    draft.input.texts = options.values
    draft.parameters.dimensions = options.dimensions
    draft.own()
    if (draft.parameters.encoding !== undefined) draft.unsupported('encoding', delete draft.parameters.encoding)
    const task = await draft.run<'text.embed'>(this.client)
    const used = task.usage?.input_tokens
    return {
      embeddings: task.output.embeddings as number[][],
      usage: used === undefined ? undefined : { tokens: used },
      providerMetadata: metadataOf(task),
      response: { headers: response(task).headers },
      warnings: draft.warnings,
    }
  }
}
