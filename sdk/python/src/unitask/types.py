"""The capabilities' inputs, parameters and outputs. Written by go test ./test/sdk -run TestPythonTypes -update; don't edit."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Required, Sequence, TypedDict, Unpack

from ._task import Task


class Options(TypedDict, total=False):
    """What goes with a creation."""

    metadata: Mapping[str, str]
    """Up to 16 texts of the caller's own, kept with the task."""
    idempotency_key: str
    """8 to 128 characters: the same key and request are one task. A fresh one by default."""
    timeout: float | None
    """How many seconds to wait for the end; None: as long as it takes."""


class AudioSpeechInput(TypedDict, total=False):
    instructions: str
    """How to say it, such as 'slowly, with a smile'."""
    text: Required[str]
    """What to say."""


class Artifact(TypedDict, total=False):
    """A result file that the service keeps until expires_at."""

    bytes: Required[int]
    """Its size."""
    content_type: Required[str]
    """Its media type."""
    duration_seconds: float | None
    """Of videos and audio; null where it has none or isn't known."""
    expires_at: Required[str]
    """When the file is deleted."""
    height: int | None
    """Pixels; null where the file has none."""
    id: Required[str]
    """Its id; later tasks can take it as {'artifact'}."""
    sha256: Required[str]
    """Its SHA-256 in hexadecimal."""
    url: Required[str]
    """A signed address of the service, made afresh at each read; it expires."""
    width: int | None
    """Pixels; null where the file has none."""


class AudioSpeechOutput(TypedDict, total=False):
    audio: Required[Artifact]


class AudioSpeechParameters(TypedDict, total=False):
    format: Literal["wav", "mp3", "opus", "aac", "flac"]
    """The file format of the recording."""
    speed: float
    """1 is the voice's own pace, 2 twice as fast."""
    voice: str
    """The voice's name. When absent, the route that runs the task decides."""


class Media(TypedDict, total=False):
    """A media value: exactly one of url, data (with content_type) or artifact."""

    artifact: str
    """The id of an artifact of the same account, which an earlier task made or an upload is."""
    content_type: str
    """The media type of data, such as image/png."""
    data: str
    """The bytes in base64 (standard alphabet, padded, no line breaks). Needs content_type."""
    url: str
    """An http or https address that the service fetches. It must be reachable from the public internet."""


class AudioTranscribeInput(TypedDict, total=False):
    audio: Required[Media]
    """The recording."""
    hints: Sequence[str]
    """Words, names or a text, spelled as they should be written where they are heard."""


class Piece(TypedDict, total=False):
    end: Required[float]
    """Seconds from the beginning."""
    speaker: str
    """Who says it, if asked for and known: a name such as A."""
    start: Required[float]
    """Seconds from the beginning."""
    text: Required[str]
    """What is said."""


class AudioTranscribeOutput(TypedDict, total=False):
    finish_reason: Literal["stop", "length", "content_filter"]
    segments: Sequence[Piece]
    """The pieces with their times, where timestamps or speakers were asked for."""
    text: Required[str]
    """The transcript, in the format asked for."""
    words: Sequence[Piece]
    """The words with their times, where timestamps of both were asked for."""


class AudioTranscribeParameters(TypedDict, total=False):
    format: Literal["text", "srt", "vtt"]
    """The form of the text: plain, or subtitles with times."""
    language: str
    """The language spoken, as a BCP 47 tag such as en or pt-BR. When absent, it is detected."""
    speakers: bool
    """True to tell who speaks. The output then has segments, each with its speaker."""
    timestamps: Literal["none", "segment", "word", "both"]
    """What the segments in the output are; 'none' leaves them out unless speakers are asked for, 'both' has words beside them."""
    translate_to: str
    """The language to write in, as a BCP 47 tag such as en. When absent, that which is spoken."""


class Authorization(TypedDict, total=False):
    """Your word about people in the media you send. Required with every input that may show a person."""

    evidence: Sequence[Media]
    """With 'authorized', media that prove it, such as a signed release."""
    person: Required[Literal["none", "authorized"]]
    """'none': no identifiable person is shown. 'authorized': whoever is shown has agreed, as the statement says."""
    statement: str
    """With 'authorized', who agreed to what and how."""


class ImageBackgroundRemoveInput(TypedDict, total=False):
    authorization: Authorization
    image: Required[Media]
    """The image whose background is removed. Needs authorization."""


class ImageBackgroundRemoveOutput(TypedDict, total=False):
    images: Required[Sequence[Artifact]]


class ImageEditInput(TypedDict, total=False):
    authorization: Authorization
    images: Required[Sequence[Media]]
    """The images to change or combine; the first is the main one. Needs authorization."""
    mask: Media
    """An image of the first one's size, transparent where it may be changed."""
    prompt: Required[str]
    """What to change."""


class ImageEditOutput(TypedDict, total=False):
    images: Required[Sequence[Artifact]]


class ImageEditParameters(TypedDict, total=False):
    aspect_ratio: Literal["1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5", "21:9"]
    format: Literal["png", "jpeg", "webp"]
    input_fidelity: Literal["low", "high"]
    """How closely the result keeps to the images given, to faces above all."""
    n: int
    quality: Literal["low", "medium", "high"]
    seed: int
    size: str


class ImageGenerateInput(TypedDict, total=False):
    negative_prompt: str
    """What the image must not show."""
    prompt: Required[str]
    """What the image shows, and in which style."""


class ImageGenerateOutput(TypedDict, total=False):
    images: Required[Sequence[Artifact]]


class ImageGenerateParameters(TypedDict, total=False):
    aspect_ratio: Literal["1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5", "21:9"]
    background: Literal["transparent", "opaque", "auto"]
    """What is behind the things shown; 'transparent' needs the format png or webp. When absent, or 'auto', the route that runs the task decides."""
    format: Literal["png", "jpeg", "webp"]
    n: int
    quality: Literal["low", "medium", "high"]
    seed: int
    size: str


class ImageUpscaleInput(TypedDict, total=False):
    authorization: Authorization
    image: Required[Media]
    """The image to enlarge. Needs authorization."""


class ImageUpscaleOutput(TypedDict, total=False):
    images: Required[Sequence[Artifact]]


class ImageUpscaleParameters(TypedDict, total=False):
    factor: Literal[2, 4]
    """How many times as wide and as high the result is."""
    format: Literal["png", "jpeg", "webp"]


class Part(TypedDict, total=False):
    """A part of a message. Its type names the member that it has."""

    audio: Media
    document: Media
    image: Media
    text: str
    """What is said."""
    type: Required[Literal["text", "image", "audio", "document"]]
    """What the part is."""


class ToolCall(TypedDict, total=False):
    arguments: Required[str | Mapping[str, Any]]
    """The arguments, by the tool's parameters; the model's own words if they are no JSON object."""
    id: Required[str]
    """Names the call. Its result refers to it."""
    invalid: bool
    """true if the call doesn't fit the tools of its request. It is as the model made it."""
    name: Required[str]
    """The tool's name."""


class TextChatInputMessage(TypedDict, total=False):
    """One message of a conversation."""

    content: str | Sequence[Part]
    """What is said, as a text or as a list of parts. Those of a user may be media. It may be blank in a tool's result and beside tool calls, and be absent there."""
    role: Required[Literal["user", "assistant", "system", "tool"]]
    """Who says it. A system message adds to input.system."""
    state: str
    """Of role assistant, output.state of the task that it comes from, if that has one. It may be left out."""
    tool_call_id: str
    """Of role tool, which of the assistant's tool calls this is the result of."""
    tool_calls: Sequence[ToolCall]


class TextChatInput(TypedDict, total=False):
    messages: Sequence[TextChatInputMessage]
    """A conversation so far, oldest message first. Either this or prompt. Messages of role system come before all others. Each of the assistant's tool calls is followed by its result, a message of role tool."""
    prompt: str
    """What to answer. Either this or messages."""
    system: str
    """What the model is to be and how it is to answer."""


class TextChatOutputCitation(TypedDict, total=False):
    text: str
    """The words of the page, or of the answer, that it is cited for."""
    title: str
    """The page's title."""
    url: Required[str]
    """The page's address."""


class TextChatOutput(TypedDict, total=False):
    citations: Sequence[TextChatOutputCitation]
    """The pages that the answer rests on, if the model searched the web."""
    data: Mapping[str, Any]
    """The answer as JSON, if the request has an output_schema, the text wasn't cut and no tool is called."""
    finish_reason: Required[Literal["stop", "length", "tool_calls", "content_filter"]]
    """Why the text ends: 'stop' at its own end or a stop sequence, 'length' at max_output_tokens, 'tool_calls' for the results of tools, 'content_filter' where a review cut it."""
    reasoning: str
    """What the model thought, where it is told."""
    state: str
    """What the model needs to remember of this answer. Send it back in the assistant's message. It is encrypted, and is used only if the next request meets the same model; nothing breaks without it."""
    text: Required[str]
    """The answer. It may be empty beside tool calls."""
    tool_calls: Sequence[ToolCall]


class TextChatParametersTool(TypedDict, total=False):
    description: str
    """What it does and when to call it, for the model."""
    name: Required[str]
    """Its name, by which the model calls it."""
    parameters: Mapping[str, Any]
    """A JSON Schema of its arguments, of type object. When absent, it has none."""
    strict: bool
    """Whether the arguments of its calls must fit parameters, which is a strict schema then, as output_schema is. A model that writes others fails the attempt. When absent or false, such a call is marked invalid."""


class TextChatParameters(TypedDict, total=False):
    max_output_tokens: int
    """The most tokens the answer may have. It also bounds what the task can cost."""
    output_schema: Mapping[str, Any]
    """A JSON Schema that the answer must fit; the answer then stands in output.data too. It is strict: an object lists all its members under required and has additionalProperties false. {'type': 'object'} alone asks for any JSON object."""
    parallel_tool_calls: bool
    """Whether the model may call several tools at once. When absent, the route that runs the task decides."""
    reasoning: Literal["none", "low", "medium", "high"]
    """How much the model thinks before it answers. Its thoughts count as output tokens. When absent, the route that runs the task decides."""
    seed: int
    stop: Sequence[str]
    """Texts that end the answer where they would appear; they aren't part of it."""
    temperature: float
    """0 answers alike each time, higher values more freely. When absent, the route that runs the task decides."""
    tool_choice: str
    """Whether the model calls tools: 'auto' as it sees fit, 'none', 'required' at least one, or the name of the tool that it must call. When absent, auto."""
    tools: Sequence[TextChatParametersTool]
    """Functions that the model may call. The service runs none of them: a call comes back in output.tool_calls, and its result goes into the next request."""
    top_p: float
    """Considers only the likeliest words that together have this probability."""
    web_search: bool
    """Whether the model may search the web. The answer's sources are then in output.citations."""


class TextEmbedInput(TypedDict, total=False):
    texts: Required[Sequence[str]]
    """The texts, each of which becomes one vector."""


class TextEmbedOutput(TypedDict, total=False):
    embeddings: Required[Sequence[Sequence[float] | str]]
    """One vector for each text, in the order of the texts."""


class TextEmbedParameters(TypedDict, total=False):
    dimensions: int
    """The length of each vector. When absent, that of the route's own vectors."""
    encoding: Literal["float", "base64"]
    """How each vector is written: as numbers, or shorter, as the base64 of its numbers in single precision, each low byte first. When absent, as numbers."""
    input_type: Literal["query", "document"]
    """What the texts are in a search, for vectors that bring queries close to the documents that answer them."""


class TextModerateInput(TypedDict, total=False):
    texts: Required[Sequence[str]]
    """The texts, each of which is judged by itself."""


class TextModerateOutputResultScores(TypedDict, total=False):
    """How likely each way is, from 0 to 1; those that the route's model doesn't know are absent. Scores of different tasks don't compare."""

    harassment: float
    hate: float
    illicit: float
    other: float
    personal_data: float
    self_harm: float
    sexual: float
    sexual_minors: float
    violence: float


class TextModerateOutputResult(TypedDict, total=False):
    categories: Required[Sequence[Literal["harassment", "hate", "illicit", "other", "personal_data", "self_harm", "sexual", "sexual_minors", "violence"]]]
    """In which ways, sorted. 'other' is harm of a kind without a name here, such as advice that is for a doctor or a lawyer to give."""
    flagged: Required[bool]
    """Whether the text is harmful."""
    scores: Required[TextModerateOutputResultScores]
    """How likely each way is, from 0 to 1; those that the route's model doesn't know are absent. Scores of different tasks don't compare."""


class TextModerateOutput(TypedDict, total=False):
    results: Required[Sequence[TextModerateOutputResult]]
    """One judgement for each text, in the order of the texts."""


class TextRerankInput(TypedDict, total=False):
    documents: Required[Sequence[str]]
    """The texts to order."""
    query: Required[str]
    """The words to look for."""


class TextRerankOutputResult(TypedDict, total=False):
    index: Required[int]
    """The text's place in documents, from 0."""
    score: Required[float]
    """How well it fits. Scores of different tasks don't compare."""


class TextRerankOutput(TypedDict, total=False):
    results: Required[Sequence[TextRerankOutputResult]]
    """The texts, the best first."""


class TextRerankParameters(TypedDict, total=False):
    top_n: int
    """How many results to return. When absent, all."""


class VideoExtendInput(TypedDict, total=False):
    authorization: Authorization
    prompt: Required[str]
    """What happens next."""
    video: Required[Media]
    """The video to go on with. Needs authorization."""


class VideoExtendOutput(TypedDict, total=False):
    videos: Required[Sequence[Artifact]]
    """The whole video, from the beginning of the given one."""


class VideoExtendParameters(TypedDict, total=False):
    duration_seconds: int
    """How much longer the video becomes. Routes that can't add this length are passed over."""
    seed: int


class VideoGenerateInput(TypedDict, total=False):
    authorization: Authorization
    image: Media
    """The first frame. Needs authorization."""
    last_image: Media
    """The last frame; only together with image. Needs authorization."""
    prompt: str
    """What happens in the video. Either this or image, or both."""
    reference_images: Sequence[Media]
    """Images of what is to appear, such as a product or a place. Needs authorization."""


class VideoGenerateOutput(TypedDict, total=False):
    videos: Required[Sequence[Artifact]]
    """The video."""


class VideoGenerateParameters(TypedDict, total=False):
    aspect_ratio: Literal["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"]
    """Width to height."""
    audio: bool
    """Whether the video has sound. When absent, the route that runs the task decides."""
    duration_seconds: int
    """How long the video is. Routes that can't make this length are passed over."""
    resolution: Literal["720p", "1080p", "4k"]
    """The lines of the shorter side."""
    seed: int


class SyncCapabilities:
    """A method for each capability of the built-in directory; run takes any."""

    def run(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Task[Any]:
        raise NotImplementedError

    def audio_speech(
        self, input: AudioSpeechInput, parameters: AudioSpeechParameters | None = None, **options: Unpack[Options]
    ) -> Task[AudioSpeechOutput]:
        """Reads a text aloud."""
        return self.run("audio.speech", input, parameters, **options)

    def audio_transcribe(
        self, input: AudioTranscribeInput, parameters: AudioTranscribeParameters | None = None, **options: Unpack[Options]
    ) -> Task[AudioTranscribeOutput]:
        """Writes down what is said in a recording."""
        return self.run("audio.transcribe", input, parameters, **options)

    def image_background_remove(
        self, input: ImageBackgroundRemoveInput, **options: Unpack[Options]
    ) -> Task[ImageBackgroundRemoveOutput]:
        """Cuts out what an image is about and leaves the rest transparent."""
        return self.run("image.background_remove", input, None, **options)

    def image_edit(
        self, input: ImageEditInput, parameters: ImageEditParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageEditOutput]:
        """Changes or combines images as a prompt says, within a mask if one is given."""
        return self.run("image.edit", input, parameters, **options)

    def image_generate(
        self, input: ImageGenerateInput, parameters: ImageGenerateParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageGenerateOutput]:
        """Makes up to four images of what a prompt describes."""
        return self.run("image.generate", input, parameters, **options)

    def image_upscale(
        self, input: ImageUpscaleInput, parameters: ImageUpscaleParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageUpscaleOutput]:
        """Makes an image larger, with the details that it would have at that size."""
        return self.run("image.upscale", input, parameters, **options)

    def text_chat(
        self, input: TextChatInput, parameters: TextChatParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextChatOutput]:
        """Answers a prompt, or goes on with a conversation, in text."""
        return self.run("text.chat", input, parameters, **options)

    def text_embed(
        self, input: TextEmbedInput, parameters: TextEmbedParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextEmbedOutput]:
        """Turns texts into vectors whose closeness says how alike the texts are in meaning."""
        return self.run("text.embed", input, parameters, **options)

    def text_moderate(
        self, input: TextModerateInput, **options: Unpack[Options]
    ) -> Task[TextModerateOutput]:
        """Says of each text whether it is harmful, and in which way. Nothing is refused: the texts may be whatever they are."""
        return self.run("text.moderate", input, None, **options)

    def text_rerank(
        self, input: TextRerankInput, parameters: TextRerankParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextRerankOutput]:
        """Orders texts by how well they answer a query, the best first."""
        return self.run("text.rerank", input, parameters, **options)

    def video_extend(
        self, input: VideoExtendInput, parameters: VideoExtendParameters | None = None, **options: Unpack[Options]
    ) -> Task[VideoExtendOutput]:
        """Goes on with a video after its end, as a prompt says."""
        return self.run("video.extend", input, parameters, **options)

    def video_generate(
        self, input: VideoGenerateInput, parameters: VideoGenerateParameters | None = None, **options: Unpack[Options]
    ) -> Task[VideoGenerateOutput]:
        """Makes a short video of what a prompt describes, from given images if there are any."""
        return self.run("video.generate", input, parameters, **options)


class AsyncCapabilities:
    """A method for each capability of the built-in directory; run takes any."""

    async def run(
        self,
        capability: str,
        input: Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Task[Any]:
        raise NotImplementedError

    async def audio_speech(
        self, input: AudioSpeechInput, parameters: AudioSpeechParameters | None = None, **options: Unpack[Options]
    ) -> Task[AudioSpeechOutput]:
        """Reads a text aloud."""
        return await self.run("audio.speech", input, parameters, **options)

    async def audio_transcribe(
        self, input: AudioTranscribeInput, parameters: AudioTranscribeParameters | None = None, **options: Unpack[Options]
    ) -> Task[AudioTranscribeOutput]:
        """Writes down what is said in a recording."""
        return await self.run("audio.transcribe", input, parameters, **options)

    async def image_background_remove(
        self, input: ImageBackgroundRemoveInput, **options: Unpack[Options]
    ) -> Task[ImageBackgroundRemoveOutput]:
        """Cuts out what an image is about and leaves the rest transparent."""
        return await self.run("image.background_remove", input, None, **options)

    async def image_edit(
        self, input: ImageEditInput, parameters: ImageEditParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageEditOutput]:
        """Changes or combines images as a prompt says, within a mask if one is given."""
        return await self.run("image.edit", input, parameters, **options)

    async def image_generate(
        self, input: ImageGenerateInput, parameters: ImageGenerateParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageGenerateOutput]:
        """Makes up to four images of what a prompt describes."""
        return await self.run("image.generate", input, parameters, **options)

    async def image_upscale(
        self, input: ImageUpscaleInput, parameters: ImageUpscaleParameters | None = None, **options: Unpack[Options]
    ) -> Task[ImageUpscaleOutput]:
        """Makes an image larger, with the details that it would have at that size."""
        return await self.run("image.upscale", input, parameters, **options)

    async def text_chat(
        self, input: TextChatInput, parameters: TextChatParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextChatOutput]:
        """Answers a prompt, or goes on with a conversation, in text."""
        return await self.run("text.chat", input, parameters, **options)

    async def text_embed(
        self, input: TextEmbedInput, parameters: TextEmbedParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextEmbedOutput]:
        """Turns texts into vectors whose closeness says how alike the texts are in meaning."""
        return await self.run("text.embed", input, parameters, **options)

    async def text_moderate(
        self, input: TextModerateInput, **options: Unpack[Options]
    ) -> Task[TextModerateOutput]:
        """Says of each text whether it is harmful, and in which way. Nothing is refused: the texts may be whatever they are."""
        return await self.run("text.moderate", input, None, **options)

    async def text_rerank(
        self, input: TextRerankInput, parameters: TextRerankParameters | None = None, **options: Unpack[Options]
    ) -> Task[TextRerankOutput]:
        """Orders texts by how well they answer a query, the best first."""
        return await self.run("text.rerank", input, parameters, **options)

    async def video_extend(
        self, input: VideoExtendInput, parameters: VideoExtendParameters | None = None, **options: Unpack[Options]
    ) -> Task[VideoExtendOutput]:
        """Goes on with a video after its end, as a prompt says."""
        return await self.run("video.extend", input, parameters, **options)

    async def video_generate(
        self, input: VideoGenerateInput, parameters: VideoGenerateParameters | None = None, **options: Unpack[Options]
    ) -> Task[VideoGenerateOutput]:
        """Makes a short video of what a prompt describes, from given images if there are any."""
        return await self.run("video.generate", input, parameters, **options)
