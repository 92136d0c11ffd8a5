package api

import (
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Work is counts of measured work; those that apply are present.
type Work struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	Images       int64 `json:"images,omitempty"`
	Characters   int64 `json:"characters,omitempty"`
	Pages        int64 `json:"pages,omitempty"`
	Requests     int64 `json:"requests,omitempty"`
	Searches     int64 `json:"searches,omitempty"`

	// Parts of InputTokens.
	CachedInputTokens int64 `json:"cached_input_tokens,omitempty"`
	CacheWriteTokens  int64 `json:"cache_write_tokens,omitempty"`
	ImageInputTokens  int64 `json:"image_input_tokens,omitempty"`
	AudioInputTokens  int64 `json:"audio_input_tokens,omitempty"`

	// Parts of OutputTokens.
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
	ImageOutputTokens int64 `json:"image_output_tokens,omitempty"`
	AudioOutputTokens int64 `json:"audio_output_tokens,omitempty"`
}

// WorkOf returns the counts of a usage. Its milliseconds aren't among them: callers read seconds.
func WorkOf(u task.Usage) Work {
	return Work{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, Images: u.Images, Characters: u.Characters,
		Pages: u.Pages, Requests: u.Requests, Searches: u.Searches,
		CachedInputTokens: u.CachedInputTokens, CacheWriteTokens: u.CacheWriteTokens,
		ImageInputTokens: u.ImageInputTokens, AudioInputTokens: u.AudioInputTokens,
		ReasoningTokens: u.ReasoningTokens, ImageOutputTokens: u.ImageOutputTokens, AudioOutputTokens: u.AudioOutputTokens,
	}
}

// Add returns the sums of both.
func (w Work) Add(o Work) Work {
	return Work{
		InputTokens: w.InputTokens + o.InputTokens, OutputTokens: w.OutputTokens + o.OutputTokens,
		Images: w.Images + o.Images, Characters: w.Characters + o.Characters,
		Pages: w.Pages + o.Pages, Requests: w.Requests + o.Requests, Searches: w.Searches + o.Searches,
		CachedInputTokens: w.CachedInputTokens + o.CachedInputTokens, CacheWriteTokens: w.CacheWriteTokens + o.CacheWriteTokens,
		ImageInputTokens: w.ImageInputTokens + o.ImageInputTokens, AudioInputTokens: w.AudioInputTokens + o.AudioInputTokens,
		ReasoningTokens: w.ReasoningTokens + o.ReasoningTokens, ImageOutputTokens: w.ImageOutputTokens + o.ImageOutputTokens,
		AudioOutputTokens: w.AudioOutputTokens + o.AudioOutputTokens,
	}
}

// Count is one count of a Work, in words.
type Count struct {
	N    int64
	Name string // "input tokens", "image"
}

// Counts returns the counts that aren't 0, as every screen shows them.
func (w Work) Counts() []Count {
	var all []Count
	add := func(n int64, one, many string) {
		switch {
		case n == 1:
			all = append(all, Count{n, one})
		case n > 0:
			all = append(all, Count{n, many})
		}
	}
	add(w.InputTokens, "input token", "input tokens")
	add(w.CachedInputTokens, "cached input token", "cached input tokens")
	add(w.CacheWriteTokens, "cache write token", "cache write tokens")
	add(w.ImageInputTokens, "image input token", "image input tokens")
	add(w.AudioInputTokens, "audio input token", "audio input tokens")
	add(w.OutputTokens, "output token", "output tokens")
	add(w.ReasoningTokens, "reasoning token", "reasoning tokens")
	add(w.ImageOutputTokens, "image output token", "image output tokens")
	add(w.AudioOutputTokens, "audio output token", "audio output tokens")
	add(w.Images, "image", "images")
	add(w.Characters, "character", "characters")
	add(w.Pages, "page", "pages")
	add(w.Requests, "request", "requests")
	add(w.Searches, "search", "searches")
	return all
}

func (w *Work) write(to *jsonwrite.Writer) {
	number(to, "input_tokens", w.InputTokens)
	number(to, "output_tokens", w.OutputTokens)
	number(to, "images", w.Images)
	number(to, "characters", w.Characters)
	number(to, "pages", w.Pages)
	number(to, "requests", w.Requests)
	number(to, "searches", w.Searches)
	number(to, "cached_input_tokens", w.CachedInputTokens)
	number(to, "cache_write_tokens", w.CacheWriteTokens)
	number(to, "image_input_tokens", w.ImageInputTokens)
	number(to, "audio_input_tokens", w.AudioInputTokens)
	number(to, "reasoning_tokens", w.ReasoningTokens)
	number(to, "image_output_tokens", w.ImageOutputTokens)
	number(to, "audio_output_tokens", w.AudioOutputTokens)
}
