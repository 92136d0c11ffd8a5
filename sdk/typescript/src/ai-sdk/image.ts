import type { ImageModelV4, ImageModelV4CallOptions, ImageModelV4Result } from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { UnsupportedError } from './errors.js'
import { mediaOfFile } from './media.js'
import { Draft, metadataOf, providerName, response, tokens } from './model.js'

/** An image model: image.generate, image.edit, image.upscale, image.background_remove or a tier of one. */
export class ImageModel implements ImageModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.image`

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  get maxImagesPerCall(): number {
    return this.takesOneImage ? 1 : 4
  }

  get supportsFileInputs(): boolean {
    return !this.modelId.startsWith('image.generate')
  }

  get supportsMaskInputs(): boolean {
    return this.modelId.startsWith('image.edit')
  }

  async doGenerate(options: ImageModelV4CallOptions): Promise<ImageModelV4Result> {
    const draft = this.draft(options)
    const task = await draft.run<'image.generate'>(this.client)
    const { images } = task.output
    const bytes = await Promise.all(images.map((image) => this.client.download(image, { signal: options.abortSignal }))).catch((error) => {
      throw draft.failure(error, this.client)
    })
    const { [providerName]: metadata } = metadataOf(task)
    const about = images.map(({ id, content_type, width = null, height = null, expires_at }) => (
      { ...metadata, id, content_type, width, height, expires_at } // generateImage hands on this list alone
    ))
    const { timestamp, modelId, headers } = response(task)
    const { inputTokens, outputTokens, totalTokens } = tokens(task)
    return {
      images: bytes,
      warnings: draft.warnings,
      providerMetadata: { [providerName]: { ...metadata, images: about } },
      response: { timestamp, modelId, headers },
      usage: { inputTokens, outputTokens, totalTokens },
    }
  }

  private get takesOneImage(): boolean {
    return /^image\.(upscale|background_remove)(\.|$)/.test(this.modelId)
  }

  private draft(options: ImageModelV4CallOptions): Draft {
    const draft = new Draft(this.modelId, options)
    const { files, mask } = options
    if (files?.length && !this.supportsFileInputs) {
      throw new UnsupportedError('files', `${this.modelId} makes images of a prompt alone; the model image.edit takes images`)
    }
    if (options.prompt !== undefined) {
      if (this.takesOneImage) draft.unsupported('prompt', options.prompt || undefined)
      else draft.input.prompt = options.prompt
    }
    if (this.takesOneImage) this.takeImage(files, draft)
    else if (files?.length) draft.input.images = files.map(mediaOfFile)
    if (mask !== undefined) draft.input.mask = mediaOfFile(mask)
    if (options.n !== 1) draft.parameters.n = options.n
    draft.parameters.size = options.size
    draft.parameters.aspect_ratio = options.aspectRatio
    draft.parameters.seed = options.seed
    return draft.own()
  }

  private takeImage(files: ImageModelV4CallOptions['files'], draft: Draft): void {
    if (files?.length !== 1) throw new UnsupportedError(`${files?.length ?? 0} files`, `${this.modelId} takes one image`)
    draft.input.image = mediaOfFile(files[0]!)
  }
}
