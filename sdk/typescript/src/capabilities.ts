// Made from the capability directory by: go test ./test/sdk -run TestTypeScriptTypes -update

/** The input, parameters and output of each capability of the built-in directory, by its name. */
export interface Capabilities {
  'audio.speech': { input: AudioSpeechInput; parameters: AudioSpeechParameters; output: AudioSpeechOutput }
  'audio.transcribe': { input: AudioTranscribeInput; parameters: AudioTranscribeParameters; output: AudioTranscribeOutput }
  'image.background_remove': { input: ImageBackgroundRemoveInput; parameters: ImageBackgroundRemoveParameters; output: ImageBackgroundRemoveOutput }
  'image.edit': { input: ImageEditInput; parameters: ImageEditParameters; output: ImageEditOutput }
  'image.generate': { input: ImageGenerateInput; parameters: ImageGenerateParameters; output: ImageGenerateOutput }
  'image.upscale': { input: ImageUpscaleInput; parameters: ImageUpscaleParameters; output: ImageUpscaleOutput }
  'text.chat': { input: TextChatInput; parameters: TextChatParameters; output: TextChatOutput }
  'text.embed': { input: TextEmbedInput; parameters: TextEmbedParameters; output: TextEmbedOutput }
  'text.moderate': { input: TextModerateInput; parameters: TextModerateParameters; output: TextModerateOutput }
  'text.rerank': { input: TextRerankInput; parameters: TextRerankParameters; output: TextRerankOutput }
  'video.extend': { input: VideoExtendInput; parameters: VideoExtendParameters; output: VideoExtendOutput }
  'video.generate': { input: VideoGenerateInput; parameters: VideoGenerateParameters; output: VideoGenerateOutput }
}

/** A result file that the service keeps until expires_at. */
export type Artifact = {
  /** Its id; later tasks can take it as {"artifact"}. */
  id: string
  /** A signed address of the service, made afresh at each read; it expires. */
  url: string
  /** Its media type. */
  content_type: string
  /** Its size. */
  bytes: number
  /** Its SHA-256 in hexadecimal. */
  sha256: string
  /** Pixels; null where the file has none. */
  width?: number | null
  /** Pixels; null where the file has none. */
  height?: number | null
  /** Of videos and audio; null where it has none or isn't known. */
  duration_seconds?: number | null
  /** When the file is deleted. */
  expires_at: string
}

/** A media value: exactly one of url, data (with content_type) or artifact. */
export type Media = {
  /** The media type of data, such as image/png. */
  content_type?: string
} & ({
  /** An http or https address that the service fetches. It must be reachable from the public internet. */
  url: string
  data?: never
  artifact?: never
} | {
  url?: never
  /** The bytes in base64 (standard alphabet, padded, no line breaks). Needs content_type. */
  data: string
  artifact?: never
} | {
  url?: never
  data?: never
  /** The id of an artifact of the same account, which an earlier task made or an upload is. */
  artifact: string
})

/** Why the text ends: "stop" at its own end or a stop sequence, "length" at max_output_tokens, "content_filter" where a review cut it. */
export type FinishReason = 'stop' | 'length' | 'content_filter'

export type Pieces = Array<{
  /** Seconds from the beginning. */
  start: number
  /** Seconds from the beginning. */
  end: number
  /** What is said. */
  text: string
  /** Who says it, if asked for and known: a name such as A. */
  speaker?: string
}>

/** Your word about people in the media you send. Required with every input that may show a person. */
export type Authorization = {
  /** "none": no identifiable person is shown. "authorized": whoever is shown has agreed, as the statement says. */
  person: 'none' | 'authorized'
  /** With "authorized", who agreed to what and how. */
  statement?: string
  /** With "authorized", media that prove it, such as a signed release. */
  evidence?: Array<Media>
}

/** The images, in the order they were made. */
export type ImagesOutput = Array<Artifact>

/** Width to height. Can't be combined with size. */
export type AspectRatio = '1:1' | '4:3' | '3:4' | '3:2' | '2:3' | '16:9' | '9:16' | '5:4' | '4:5' | '21:9'

/** The file format of the images. */
export type ImageFormat = 'png' | 'jpeg' | 'webp'

/** Higher takes longer and costs more. When absent, the route that runs the task decides. */
export type ImageQuality = 'low' | 'medium' | 'high'

/** A part of a message. Its type names the member that it has. */
export type Part = {
  /** What the part is. */
  type: 'text' | 'image' | 'audio' | 'document'
  /** What is said. */
  text?: string
  /** An image: {"url"}, {"data","content_type"} or {"artifact"}. */
  image?: Media
  /** A recording: {"url"}, {"data","content_type"} or {"artifact"}. */
  audio?: Media
  /** A document, a PDF or a plain text: {"url"}, {"data","content_type"} or {"artifact"}. */
  document?: Media
}

/** What the assistant calls, in its order. A request takes a tool call as an output has it. */
export type ToolCalls = Array<{
  /** Names the call. Its result refers to it. */
  id: string
  /** The tool's name. */
  name: string
  /** The arguments, by the tool's parameters; the model's own words if they are no JSON object. */
  arguments: string | Record<string, unknown>
  /** true if the call doesn't fit the tools of its request. It is as the model made it. */
  invalid?: boolean
}>

export type Harm = 'harassment' | 'hate' | 'illicit' | 'other' | 'personal_data' | 'self_harm' | 'sexual' | 'sexual_minors' | 'violence'

/** The input of audio.speech. Reads a text aloud. */
export type AudioSpeechInput = {
  /** What to say. */
  text: string
  /** How to say it, such as "slowly, with a smile". */
  instructions?: string
}

/** The parameters of audio.speech. */
export type AudioSpeechParameters = {
  /** The voice's name. When absent, the route that runs the task decides. */
  voice?: string
  /** The file format of the recording. */
  format?: 'wav' | 'mp3' | 'opus' | 'aac' | 'flac'
  /** 1 is the voice's own pace, 2 twice as fast. */
  speed?: number
}

/** The output of audio.speech. */
export type AudioSpeechOutput = {
  /** A result file that the service keeps until expires_at. */
  audio: Artifact
}

/** The input of audio.transcribe. Writes down what is said in a recording. */
export type AudioTranscribeInput = {
  /** The recording. */
  audio: Media
  /** Words, names or a text, spelled as they should be written where they are heard. */
  hints?: Array<string>
}

/** The parameters of audio.transcribe. */
export type AudioTranscribeParameters = {
  /** The language spoken, as a BCP 47 tag such as en or pt-BR. When absent, it is detected. */
  language?: string
  /** The language to write in, as a BCP 47 tag such as en. When absent, that which is spoken. */
  translate_to?: string
  /** True to tell who speaks. The output then has segments, each with its speaker. */
  speakers?: boolean
  /** What the segments in the output are; "none" leaves them out unless speakers are asked for, "both" has words beside them. */
  timestamps?: 'none' | 'segment' | 'word' | 'both'
  /** The form of the text: plain, or subtitles with times. */
  format?: 'text' | 'srt' | 'vtt'
}

/** The output of audio.transcribe. */
export type AudioTranscribeOutput = {
  /** The transcript, in the format asked for. */
  text: string
  /** Why the text ends: "stop" at its own end or a stop sequence, "length" at max_output_tokens, "content_filter" where a review cut it. */
  finish_reason?: FinishReason
  /** The pieces with their times, where timestamps or speakers were asked for. */
  segments?: Pieces
  /** The words with their times, where timestamps of both were asked for. */
  words?: Pieces
}

/** The input of image.background_remove. Cuts out what an image is about and leaves the rest transparent. */
export type ImageBackgroundRemoveInput = {
  /** The image whose background is removed. Needs authorization. */
  image: Media
  /** Your word about people in the media you send. Required with every input that may show a person. */
  authorization?: Authorization
}

/** The parameters of image.background_remove. */
export type ImageBackgroundRemoveParameters = Record<string, never>

/** The output of image.background_remove. */
export type ImageBackgroundRemoveOutput = {
  /** The images, in the order they were made. */
  images: ImagesOutput
}

/** The input of image.edit. Changes or combines images as a prompt says, within a mask if one is given. */
export type ImageEditInput = {
  /** What to change. */
  prompt: string
  /** The images to change or combine; the first is the main one. Needs authorization. */
  images: Array<Media>
  /** An image of the first one's size, transparent where it may be changed. */
  mask?: Media
  /** Your word about people in the media you send. Required with every input that may show a person. */
  authorization?: Authorization
}

/** The parameters of image.edit. */
export type ImageEditParameters = {
  /** How many images to make. */
  n?: number
  /** Width to height. Can't be combined with size. */
  aspect_ratio?: AspectRatio
  /** WIDTHxHEIGHT in pixels, each from 64 to 4096, such as 1024x1024. Can't be combined with aspect_ratio. */
  size?: string
  /** The file format of the images. */
  format?: ImageFormat
  /** Higher takes longer and costs more. When absent, the route that runs the task decides. */
  quality?: ImageQuality
  /** How closely the result keeps to the images given, to faces above all. */
  input_fidelity?: 'low' | 'high'
  /** Makes results repeatable where the route that runs the task supports it; elsewhere it has no effect. */
  seed?: number
}

/** The output of image.edit. */
export type ImageEditOutput = {
  /** The images, in the order they were made. */
  images: ImagesOutput
}

/** The input of image.generate. Makes up to four images of what a prompt describes. */
export type ImageGenerateInput = {
  /** What the image shows, and in which style. */
  prompt: string
  /** What the image must not show. */
  negative_prompt?: string
}

/** The parameters of image.generate. */
export type ImageGenerateParameters = {
  /** How many images to make. */
  n?: number
  /** Width to height. Can't be combined with size. */
  aspect_ratio?: AspectRatio
  /** WIDTHxHEIGHT in pixels, each from 64 to 4096, such as 1024x1024. Can't be combined with aspect_ratio. */
  size?: string
  /** The file format of the images. */
  format?: ImageFormat
  /** Higher takes longer and costs more. When absent, the route that runs the task decides. */
  quality?: ImageQuality
  /** What is behind the things shown; "transparent" needs the format png or webp. When absent, or "auto", the route that runs the task decides. */
  background?: 'transparent' | 'opaque' | 'auto'
  /** Makes results repeatable where the route that runs the task supports it; elsewhere it has no effect. */
  seed?: number
}

/** The output of image.generate. */
export type ImageGenerateOutput = {
  /** The images, in the order they were made. */
  images: ImagesOutput
}

/** The input of image.upscale. Makes an image larger, with the details that it would have at that size. */
export type ImageUpscaleInput = {
  /** The image to enlarge. Needs authorization. */
  image: Media
  /** Your word about people in the media you send. Required with every input that may show a person. */
  authorization?: Authorization
}

/** The parameters of image.upscale. */
export type ImageUpscaleParameters = {
  /** How many times as wide and as high the result is. */
  factor?: 2 | 4
  /** The file format of the images. */
  format?: ImageFormat
}

/** The output of image.upscale. */
export type ImageUpscaleOutput = {
  /** The images, in the order they were made. */
  images: ImagesOutput
}

/** The input of text.chat. Answers a prompt, or goes on with a conversation, in text. */
export type TextChatInput = {
  /** What the model is to be and how it is to answer. */
  system?: string
} & ({
  /** What to answer. Either this or messages. */
  prompt: string
  messages?: never
} | {
  prompt?: never
  /** A conversation so far, oldest message first. Either this or prompt. Messages of role system come before all others. Each of the assistant's tool calls is followed by its result, a message of role tool. */
  messages: Array<{
    /** Who says it. A system message adds to input.system. */
    role: 'user' | 'assistant' | 'system' | 'tool'
    /** What is said, as a text or as a list of parts. Those of a user may be media. It may be blank in a tool's result and beside tool calls, and be absent there. */
    content?: string | Array<Part>
    /** What the assistant calls, in its order. A request takes a tool call as an output has it. */
    tool_calls?: ToolCalls
    /** Of role tool, which of the assistant's tool calls this is the result of. */
    tool_call_id?: string
    /** Of role assistant, output.state of the task that it comes from, if that has one. It may be left out. */
    state?: string
  }>
})

/** The parameters of text.chat. */
export type TextChatParameters = {
  /** The most tokens the answer may have. It also bounds what the task can cost. */
  max_output_tokens?: number
  /** 0 answers alike each time, higher values more freely. When absent, the route that runs the task decides. */
  temperature?: number
  /** Considers only the likeliest words that together have this probability. */
  top_p?: number
  /** Texts that end the answer where they would appear; they aren't part of it. */
  stop?: Array<string>
  /** A JSON Schema that the answer must fit; the answer then stands in output.data too. It is strict: an object lists all its members under required and has additionalProperties false. {"type": "object"} alone asks for any JSON object. */
  output_schema?: Record<string, unknown>
  /** Functions that the model may call. The service runs none of them: a call comes back in output.tool_calls, and its result goes into the next request. */
  tools?: Array<{
    /** Its name, by which the model calls it. */
    name: string
    /** What it does and when to call it, for the model. */
    description?: string
    /** A JSON Schema of its arguments, of type object. When absent, it has none. */
    parameters?: Record<string, unknown>
    /** Whether the arguments of its calls must fit parameters, which is a strict schema then, as output_schema is. A model that writes others fails the attempt. When absent or false, such a call is marked invalid. */
    strict?: boolean
  }>
  /** Whether the model calls tools: "auto" as it sees fit, "none", "required" at least one, or the name of the tool that it must call. When absent, auto. */
  tool_choice?: string
  /** Whether the model may call several tools at once. When absent, the route that runs the task decides. */
  parallel_tool_calls?: boolean
  /** How much the model thinks before it answers. Its thoughts count as output tokens. When absent, the route that runs the task decides. */
  reasoning?: 'none' | 'low' | 'medium' | 'high'
  /** Whether the model may search the web. The answer's sources are then in output.citations. */
  web_search?: boolean
  /** Makes results repeatable where the route that runs the task supports it; elsewhere it has no effect. */
  seed?: number
}

/** The output of text.chat. */
export type TextChatOutput = {
  /** The answer. It may be empty beside tool calls. */
  text: string
  /** The answer as JSON, if the request has an output_schema, the text wasn't cut and no tool is called. */
  data?: Record<string, unknown>
  /** What the assistant calls, in its order. A request takes a tool call as an output has it. */
  tool_calls?: ToolCalls
  /** The pages that the answer rests on, if the model searched the web. */
  citations?: Array<{
    /** The page's address. */
    url: string
    /** The page's title. */
    title?: string
    /** The words of the page, or of the answer, that it is cited for. */
    text?: string
  }>
  /** What the model thought, where it is told. */
  reasoning?: string
  /** Why the text ends: "stop" at its own end or a stop sequence, "length" at max_output_tokens, "tool_calls" for the results of tools, "content_filter" where a review cut it. */
  finish_reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  /** What the model needs to remember of this answer. Send it back in the assistant's message. It is encrypted, and is used only if the next request meets the same model; nothing breaks without it. */
  state?: string
}

/** The input of text.embed. Turns texts into vectors whose closeness says how alike the texts are in meaning. */
export type TextEmbedInput = {
  /** The texts, each of which becomes one vector. */
  texts: Array<string>
}

/** The parameters of text.embed. */
export type TextEmbedParameters = {
  /** The length of each vector. When absent, that of the route's own vectors. */
  dimensions?: number
  /** What the texts are in a search, for vectors that bring queries close to the documents that answer them. */
  input_type?: 'query' | 'document'
  /** How each vector is written: as numbers, or shorter, as the base64 of its numbers in single precision, each low byte first. When absent, as numbers. */
  encoding?: 'float' | 'base64'
}

/** The output of text.embed. */
export type TextEmbedOutput = {
  /** One vector for each text, in the order of the texts. */
  embeddings: Array<Array<number> | string>
}

/** The input of text.moderate. Says of each text whether it is harmful, and in which way. Nothing is refused: the texts may be whatever they are. */
export type TextModerateInput = {
  /** The texts, each of which is judged by itself. */
  texts: Array<string>
}

/** The parameters of text.moderate. */
export type TextModerateParameters = Record<string, never>

/** The output of text.moderate. */
export type TextModerateOutput = {
  /** One judgement for each text, in the order of the texts. */
  results: Array<{
    /** Whether the text is harmful. */
    flagged: boolean
    /** In which ways, sorted. "other" is harm of a kind without a name here, such as advice that is for a doctor or a lawyer to give. */
    categories: Array<Harm>
    /** How likely each way is, from 0 to 1; those that the route's model doesn't know are absent. Scores of different tasks don't compare. */
    scores: {
      harassment?: number
      hate?: number
      illicit?: number
      other?: number
      personal_data?: number
      self_harm?: number
      sexual?: number
      sexual_minors?: number
      violence?: number
    }
  }>
}

/** The input of text.rerank. Orders texts by how well they answer a query, the best first. */
export type TextRerankInput = {
  /** The words to look for. */
  query: string
  /** The texts to order. */
  documents: Array<string>
}

/** The parameters of text.rerank. */
export type TextRerankParameters = {
  /** How many results to return. When absent, all. */
  top_n?: number
}

/** The output of text.rerank. */
export type TextRerankOutput = {
  /** The texts, the best first. */
  results: Array<{
    /** The text's place in documents, from 0. */
    index: number
    /** How well it fits. Scores of different tasks don't compare. */
    score: number
  }>
}

/** The input of video.extend. Goes on with a video after its end, as a prompt says. */
export type VideoExtendInput = {
  /** The video to go on with. Needs authorization. */
  video: Media
  /** What happens next. */
  prompt: string
  /** Your word about people in the media you send. Required with every input that may show a person. */
  authorization?: Authorization
}

/** The parameters of video.extend. */
export type VideoExtendParameters = {
  /** How much longer the video becomes. Routes that can't add this length are passed over. */
  duration_seconds?: number
  /** Makes results repeatable where the route that runs the task supports it; elsewhere it has no effect. */
  seed?: number
}

/** The output of video.extend. */
export type VideoExtendOutput = {
  /** The whole video, from the beginning of the given one. */
  videos: Array<Artifact>
}

/** The input of video.generate. Makes a short video of what a prompt describes, from given images if there are any. */
export type VideoGenerateInput = {
  /** What happens in the video. Either this or image, or both. */
  prompt?: string
  /** The first frame. Needs authorization. */
  image?: Media
  /** The last frame; only together with image. Needs authorization. */
  last_image?: Media
  /** Images of what is to appear, such as a product or a place. Needs authorization. */
  reference_images?: Array<Media>
  /** Your word about people in the media you send. Required with every input that may show a person. */
  authorization?: Authorization
}

/** The parameters of video.generate. */
export type VideoGenerateParameters = {
  /** How long the video is. Routes that can't make this length are passed over. */
  duration_seconds?: number
  /** Width to height. */
  aspect_ratio?: '16:9' | '9:16' | '1:1' | '4:3' | '3:4' | '21:9'
  /** The lines of the shorter side. */
  resolution?: '720p' | '1080p' | '4k'
  /** Whether the video has sound. When absent, the route that runs the task decides. */
  audio?: boolean
  /** Makes results repeatable where the route that runs the task supports it; elsewhere it has no effect. */
  seed?: number
}

/** The output of video.generate. */
export type VideoGenerateOutput = {
  /** The video. */
  videos: Array<Artifact>
}
