package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox/media"
)

// TestTranscripts shows what the sandbox does of each thing that may be asked of a recording.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	const said = "Anna: Good day. Well? Ben: Hi anna. Anna: Bye."
	wav := media.Speak(media.SpeechSpec{Text: said, Speed: 1}).WAV()
	sentences := []string{"Anna: Good day.", "Well?", "Ben: Hi anna.", "Anna: Bye."}
	words := []string{"Anna:", "Good", "day.", "Well?", "Ben:", "Hi", "anna.", "Anna:", "Bye."}
	type piece struct{ Text, Speaker string }
	pieces := func(texts []string, speakers ...string) (all []piece) {
		for i, text := range texts {
			one := piece{Text: text}
			if speakers != nil {
				one.Speaker = speakers[i]
			}
			all = append(all, one)
		}
		return all
	}
	of := func(segments []supplier.Segment) (all []piece) {
		for i, s := range segments {
			if s.End < s.Start || i > 0 && s.Start < segments[i-1].Start {
				t.Errorf("times of %+v", s)
			}
			all = append(all, piece{s.Text, s.Speaker})
		}
		return all
	}
	for name, tt := range map[string]struct {
		input, parameters, text string
		segments, words         []piece
	}{
		"a text":   {`{}`, `{"speakers":false}`, said, nil, nil},
		"speakers": {`{}`, `{"speakers":true}`, said, pieces(sentences, "A", "A", "B", "A"), nil},
		"both":     {`{}`, `{"timestamps":"both"}`, said, pieces(sentences), pieces(words)},
		"both, and speakers": {
			`{}`, `{"timestamps":"both","speakers":true}`, said,
			pieces(sentences, "A", "A", "B", "A"), pieces(words, "A", "A", "A", "A", "B", "B", "B", "A", "A"),
		},
		"speakers of words": {`{}`, `{"timestamps":"word","speakers":true}`, said, pieces(words, "A", "A", "A", "A", "B", "B", "B", "A", "A"), nil},
		"hints":             {`{"hints":["Anna","good DAY","a"]}`, `{}`, "Anna: good DAY. Well? Ben: Hi Anna. Anna: Bye.", nil, nil},
		"a translation's speakers": {
			`{}`, `{"translate_to":"en","speakers":true}`, "[en] " + said,
			pieces([]string{"[en] Anna: Good day.", "Well?", "Ben: Hi anna.", "Anna: Bye."}, "A", "A", "B", "A"), nil,
		},
		"a translation": {`{}`, `{"translate_to":"pt-BR"}`, "[pt-BR] " + said, nil, nil},
	} {
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), with(request("audio.transcribe", tt.input, tt.parameters), "/audio", wav))
		if err != nil {
			t.Fatal(err)
		}
		got := ready(t, a, o)
		if *got.Text != tt.text {
			t.Errorf("%s: text %q, want %q", name, *got.Text, tt.text)
		}
		if diff := cmp.Diff([][]piece{tt.segments, tt.words}, [][]piece{of(got.Segments), of(got.Words)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
