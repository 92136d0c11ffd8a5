package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// guide begins docs/sandbox.md; the tables follow.
const guide = `# The sandbox

Test keys are always served by two sandbox suppliers and live keys never are. One of the two is
cheaper. They do real work without a model, without the network and at no cost: texts, pictures,
videos that browsers play, sounds and vectors, made from the request alone. The same request gives
the same result. Checks, states and errors are those of any other supplier. Its prices are play money: they put its
routes in order and are in the JSON of ` + "`unitask suppliers`" + `, and no table shows them as charges.

## Results
| capability | answers | result |
|---|---|---|
`

// makes describes each capability's result.
var makes = map[string]string{
	"text.chat":      "a greeting, the value of a sum (`What is 12*7+1?`), `say`, `upper`, `lower`, `reverse` or `sort` of the rest, `How many words: …`, else a remark about the prompt; with `output_schema`, an answer of its form; with `tools`, a call of each that the prompt has a word of the name of, and then what their results say; with `reasoning`, thoughts; with `web_search`, a page",
	"text.embed":     "unit vectors, 256 dimensions by default; texts that share words or parts of words lie close together; of a query the words that only ask don't count",
	"text.moderate":  "flags a text with a word of the list below; a category's score is 0.5 by one of its words, 0.75 by two, and so on",
	"text.rerank":    "each document's score is the share of the query's words, and of their parts, that it has; the best first",
	"image.generate": "1024×1024 by default; colours follow the prompt (name one), its words are written in; `png`, `jpeg`, `webp`; an ellipse in front of a transparent background",
	"image.edit":     "the first picture in the prompt's colours, within the mask if one is given (its transparent pixels, else its light ones); further pictures are shown small",
	"image.upscale":  "the picture, two or four times as wide and high, up to 16 megapixels; of one over 48 KiB, from a copy that is small enough to keep",
	"video.generate": "MP4 (H.264, FLAC sound with `audio`), 4 s at 720p and 16:9 by default, up to 60 s; `image` is its backdrop, in 4K in the middle of the sky",
	"audio.speech":   "`wav` or `flac`, 24 kHz: a tone a syllable, as long as speech would be; the text is kept as the file's comment",
	"audio.transcribe": "the comment of a WAV or FLAC file (so the sandbox understands its own speech), else its length and loudness; " +
		"speakers by sentences that begin with a name (`Anna: Hello.`), hints put a heard word's capitals right, a translation is only marked",
	"image.background_remove": "a PNG of the picture's size, transparent where it is joined to the edge and of about the edge's most frequent colour; of one over 48 KiB, from a copy that is small enough to keep",
	"video.extend":            "an MP4 that goes on as it began, if the sandbox made it: the first part is the given one, picture by picture; of another MP4, a new one of its size and length and what is added, up to 120 s in all",
}

// Guide returns docs/sandbox.md.
func Guide() string {
	var b strings.Builder
	b.WriteString(guide)
	for _, name := range slices.Sorted(maps.Keys(services)) {
		answers := "at once"
		if s := services[name]; s.async {
			answers = fmt.Sprintf("after %s", s.takes)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, answers, makes[name])
	}
	b.WriteString(`
A capability that only the configuration knows gets its family's result: an image for image.*, a video for video.*, a
sound for audio.*, and a text for others. Where that doesn't fit its output schema, the result is an example of the
schema: the one that is declared, else one that is made of its types, bounds and lists of values, with the request's
texts for its free strings, and files in the places of artifacts.

The words of text.moderate:

| category | words |
|---|---|
`)
	for _, category := range slices.Sorted(maps.Keys(harms)) {
		fmt.Fprintf(&b, "| %s | %s |\n", category, strings.Join(harms[category], ", "))
	}
	b.WriteString(`
## Magic inputs
A word of this table, set off by white space, anywhere in the prompt, in the last message of the user, in the text to
speak, in a text to embed or to moderate, or in a query, has its effect. A capability
without a text, such as audio.transcribe or image.upscale, has no magic words. A value that is not allowed is an
INVALID_REQUEST; other words that begin with @ are plain text.

| input | effect |
|---|---|
`)
	for _, in := range magicInputs {
		word := "@" + in.name
		if in.values != "" {
			word += ":" + in.values
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", word, in.effect)
	}
	b.WriteString("\nCODE is one of ")
	for i, code := range failCodes() {
		switch {
		case i == 4: // a line is full
			b.WriteString(",\n")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("`" + string(code) + "`")
	}
	b.WriteString(guideEnd)
	return b.String()
}

const guideEnd = `.

## Restarts
A job's state is stored with its task, so that it goes on through a restart. All that a supplier remembers of its
submissions (to look them up, to lose the first answer of ` + "`@unknown`" + ` only once, to end a canceled job) it forgets
with the process.
`
