package gemini

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"mime"
	"strconv"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

const (
	defaultVoice = "Kore"
	defaultRate  = 24_000 // samples a second, if the answer doesn't say
	mostRate     = 192_000
	sampleBytes  = 2 // 16 bits, one channel
)

var errSound = errors.New("the answer holds no sound that WAV can carry")

type speechInput struct {
	Text         string `json:"text"`
	Instructions string `json:"instructions"`
}

type speechParameters struct {
	Voice  string          `json:"voice"`
	Format string          `json:"format"`
	Speed  json.RawMessage `json:"speed"`
}

type speechConfig struct {
	VoiceConfig struct {
		PrebuiltVoiceConfig struct {
			VoiceName string `json:"voiceName"`
		} `json:"prebuiltVoiceConfig"`
	} `json:"voiceConfig"`
}

func (a *adapter) speak(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in speechInput
	var p speechParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	voice := &speechConfig{}
	voice.VoiceConfig.PrebuiltVoiceConfig.VoiceName = defaultVoice
	if p.Voice != "" {
		voice.VoiceConfig.PrebuiltVoiceConfig.VoiceName = p.Voice
	}
	text := in.Text
	if in.Instructions != "" {
		text = in.Instructions + ":\n" + text
	}
	ask := &generateRequest{
		Contents:         []content{textContent("user", text)},
		GenerationConfig: generationConfig{ResponseModalities: []string{"AUDIO"}, SpeechConfig: voice},
	}
	answer, err := a.format.Post(ctx, method(r.Model, "generateContent"), ask, 0)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeSpeech(answer, len(text))
}

// decodeSpeech turns an answer of success into one WAV file.
func (a *adapter) decodeSpeech(answer upstream.Answer, asked int) (supplier.Outcome, error) {
	body, err := a.decodeGenerate(answer)
	if err != nil {
		return supplier.Outcome{}, err
	}
	sounds := body.blobs()
	if len(sounds) == 0 {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errNoContent)
	}
	file, ok := soundFile(sounds)
	if !ok {
		return supplier.Outcome{}, upstream.Unusable(answer.Status, errSound)
	}
	used := tokens(body.UsageMetadata, asked, 0)
	used.Milliseconds = int64(file.Duration * 1000)
	return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{file}, Usage: used}}, nil
}

// soundFile makes one file of the pieces of an answer: raw samples, which get a header, or a whole WAV.
func soundFile(pieces []blob) (supplier.File, bool) {
	kind, params, err := mime.ParseMediaType(pieces[0].MimeType)
	if err != nil {
		return supplier.File{}, false
	}
	switch kind {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return supplier.File{ContentType: "audio/wav", Data: pieces[0].Data}, len(pieces) == 1
	case "audio/l16", "audio/pcm":
	default:
		return supplier.File{}, false
	}
	rate := defaultRate
	if given, ok := params["rate"]; ok {
		if rate, err = strconv.Atoi(given); err != nil || rate <= 0 || rate > mostRate {
			return supplier.File{}, false
		}
	}
	var samples []byte
	for _, p := range pieces {
		if !strings.EqualFold(p.MimeType, pieces[0].MimeType) {
			return supplier.File{}, false
		}
		samples = append(samples, p.Data...)
	}
	samples = samples[:len(samples)/sampleBytes*sampleBytes]
	seconds := float64(len(samples)) / float64(rate*sampleBytes)
	return supplier.File{ContentType: "audio/wav", Data: wav(samples, rate), Duration: seconds}, len(samples) > 0 && len(samples) < math.MaxUint32-wavHeader
}

const wavHeader = 44

// wav returns 16-bit samples of one channel, lowest byte first, as a WAV file.
func wav(samples []byte, rate int) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, wavHeader+len(samples))
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, uint32(wavHeader-8+len(samples)))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16) // of the format that follows
	b = le.AppendUint16(b, 1)  // PCM
	b = le.AppendUint16(b, 1)  // channel
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*sampleBytes))
	b = le.AppendUint16(b, sampleBytes)
	b = le.AppendUint16(b, sampleBytes*8)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(samples)))
	return append(b, samples...)
}
