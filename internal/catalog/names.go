package catalog

// The built-in capabilities.
const (
	AudioSpeech           Name = "audio.speech"
	AudioTranscribe       Name = "audio.transcribe"
	ImageBackgroundRemove Name = "image.background_remove"
	ImageEdit             Name = "image.edit"
	ImageGenerate         Name = "image.generate"
	ImageUpscale          Name = "image.upscale"
	TextChat              Name = "text.chat"
	TextEmbed             Name = "text.embed"
	TextModerate          Name = "text.moderate"
	TextRerank            Name = "text.rerank"
	VideoExtend           Name = "video.extend"
	VideoGenerate         Name = "video.generate"
)
