import type { RerankingModelV4, RerankingModelV4CallOptions, RerankingModelV4Result } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { Draft, metadataOf, providerName, response } from './model.js'

/** A reranking model: text.rerank or a tier of it. */
export class RerankingModel implements RerankingModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.reranking`

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  async doRerank(options: RerankingModelV4CallOptions): Promise<RerankingModelV4Result> {
    const draft = new Draft(this.modelId, options)
    const { documents } = options
    if (documents.type === 'object') draft.compatible('object documents', 'each is ranked by the text of its JSON')
    draft.input.query = options.query
    draft.input.documents = documents.type === 'text' ? documents.values : documents.values.map((value) => JSON.stringify(value))
    draft.parameters.top_n = options.topN
    const task = await draft.own().run<'text.rerank'>(this.client)
    return {
      ranking: task.output.results.map(({ index, score }) => ({ index, relevanceScore: score })),
      providerMetadata: metadataOf(task),
      response: response(task),
      warnings: draft.warnings,
    }
  }
}
