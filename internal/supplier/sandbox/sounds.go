package sandbox

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// speech is the product of audio.speech.
type speech struct {
	Text   string  `json:"text"`
	Voice  string  `json:"voice"`
	Speed  float64 `json:"speed"`
	Format string  `json:"format"`
}

func readSpeech(r supplier.Request) (product, string, error) {
	var in struct {
		Text         string `json:"text"`
		Instructions string `json:"instructions"`
	}
	params, err := decode(r.Input, r.Parameters, &in)
	if err != nil {
		return nil, "", err
	}
	if utf8.RuneCountInString(in.Text) > maxSpoken {
		return nil, "", refusal(fmt.Sprintf("text is over %d characters", maxSpoken))
	}
	return &speech{
		Text: in.Text, Voice: params.Voice + in.Instructions, Speed: cmp.Or(params.Speed, 1),
		Format: cmp.Or(params.Format, "wav"),
	}, in.Text, nil
}

// make hums the text.
func (s *speech) make() (*supplier.Result, error) {
	sound := media.Speak(media.SpeechSpec{Text: s.Text, Voice: s.Voice, Speed: s.Speed})
	file := supplier.File{ContentType: "audio/wav", Duration: sound.Duration().Seconds()}
	if s.Format == "flac" {
		file.ContentType, file.Data = "audio/flac", sound.FLAC()
	} else {
		file.Data = sound.WAV()
	}
	return &supplier.Result{
		Files: []supplier.File{file},
		Usage: supplier.Usage{
			Characters:   int64(utf8.RuneCountInString(s.Text)),
			Milliseconds: sound.Duration().Milliseconds(),
		},
	}, nil
}
