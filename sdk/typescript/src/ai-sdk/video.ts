import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as CallOptions,
  Experimental_VideoModelV4OperationStartResult as StartResult,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
  JSONValue,
} from '@ai-sdk/provider'
import type { Unitask } from '../client.js'
import { failureOf } from '../errors.js'
import { sleep } from '../tries.js'
import { ended } from '../types.js'
import { mediaOfFile } from './media.js'
import { Draft, metadataOf, providerName, response } from './model.js'

const lines: Record<number, string> = { 720: '720p', 1080: '1080p', 2160: '4k' }

/** A video model: video.generate, video.extend or a tier of one. A generation is a task, which goes on by itself. */
export class VideoModel implements VideoModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = `${providerName}.video`
  readonly maxVideosPerCall = 1
  private readonly reads = new Map<string, number>() // when the next one may be, by task

  constructor(
    private readonly client: Unitask,
    readonly modelId: string,
  ) {}

  async doStart(options: CallOptions): Promise<StartResult> {
    const draft = this.draft(options)
    try {
      const task = await this.client.submit(draft.request, { ...draft.callOptions, wait: 0 })
      const { timestamp, modelId, headers } = response(task)
      return { operation: { task: task.id }, warnings: draft.warnings, response: { timestamp, modelId, headers } }
    } catch (error) {
      throw draft.failure(error, this.client)
    }
  }

  async doStatus(options: { operation: JSONValue; abortSignal?: AbortSignal }): Promise<StatusResult> {
    const { task: id } = options.operation as { task: string }
    const signal = options.abortSignal
    const draft = new Draft(this.modelId, options)
    try {
      await this.spaced(id, signal)
      const task = await this.client.get<'video.generate'>(id, { signal })
      const { timestamp, modelId, headers } = response(task)
      const about = { providerMetadata: metadataOf(task), response: { timestamp, modelId, headers } }
      if (!ended(task)) return { status: 'pending', ...about }
      this.reads.delete(id)
      if (task.output === null) {
        const failure = failureOf(task)
        return { status: 'error', error: `${failure.code}: ${failure.message}`, ...about }
      }
      const videos = await Promise.all(task.output.videos.map(async (video) => {
        const data = await this.client.download(video, { signal })
        return { type: 'binary' as const, data, mediaType: video.content_type }
      }))
      return { status: 'completed', videos, warnings: [], ...about }
    } catch (error) {
      throw draft.failure(error, this.client)
    }
  }

  /** Keeps reads of a task two seconds apart, however often its status is asked for. */
  private async spaced(id: string, signal: AbortSignal | undefined): Promise<void> {
    const now = Date.now()
    const at = Math.max(this.reads.get(id) ?? now, now)
    this.reads.set(id, at + 2000)
    if (at > now) await sleep(at - now, signal)
  }

  private draft(options: CallOptions): Draft {
    const draft = new Draft(this.modelId, options)
    const { input, parameters } = draft
    input.prompt = options.prompt
    if (options.image) input.image = mediaOfFile(options.image)
    for (const { image, frameType } of options.frameImages ?? []) {
      input[frameType === 'first_frame' ? 'image' : 'last_image'] = mediaOfFile(image)
    }
    this.takeReferences(options.inputReferences ?? [], draft)
    parameters.duration_seconds = options.duration
    parameters.seed = options.seed
    parameters.audio = options.generateAudio
    takeForm(options, draft)
    draft.unsupported('fps', options.fps)
    if (options.n > 1) draft.unsupported('n', options.n, 'a task makes one video')
    return draft.own()
  }

  private takeReferences(files: NonNullable<CallOptions['inputReferences']>, draft: Draft): void {
    const isVideo = (file: { mediaType?: string }) => file.mediaType?.startsWith('video/') ?? false
    const extends_ = this.modelId.startsWith('video.extend')
    const videos = files.filter(isVideo)
    const images = files.filter((file) => !isVideo(file))
    if (extends_ && videos.length === 1) draft.input.video = mediaOfFile(videos[0]!)
    else if (videos.length > 0) draft.unsupported('inputReferences of videos', videos, 'the model video.extend takes one')
    if (images.length > 0) draft.input.reference_images = images.map(mediaOfFile)
  }
}

/** The service's resolution is the number of lines of the shorter side; the form is apart. */
function takeForm({ aspectRatio, resolution }: CallOptions, draft: Draft): void {
  const [width = 0, height = 0] = (resolution ?? '').split('x').map(Number)
  const lined = lines[Math.min(width, height)]
  if (resolution !== undefined && lined === undefined) {
    draft.unsupported('resolution', resolution, 'the shorter side has 720, 1080 or 2160 pixels')
  }
  draft.parameters.resolution = lined
  if (aspectRatio === 'adaptive') draft.unsupported('aspectRatio', aspectRatio)
  else draft.parameters.aspect_ratio = aspectRatio ?? (lined && ratio(width, height))
}

function ratio(width: number, height: number): string {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  const by = divisor(width, height)
  return `${width / by}:${height / by}`
}
