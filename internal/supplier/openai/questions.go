package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Question is a short chat that shows whether a server's model can do something.
type Question struct {
	Feature string           // one of OptionFeatures; "" for a plain text
	Request supplier.Request // without a model
	Holds   func(r *supplier.Result) bool
}

// answerBound bounds an answer: a model that reasons thinks first.
const answerBound = `"max_output_tokens":512`

// Questions returns a plain chat, and one for each of OptionFeatures.
func Questions() []Question {
	answered := func(r *supplier.Result) bool { return r.Text != nil }
	ask := func(feature, parameters string, holds func(*supplier.Result) bool) Question {
		if parameters != "" {
			parameters = "," + parameters
		}
		return Question{feature, question(`{"prompt":"What is the capital of Sweden?"}`, answerBound+parameters), holds}
	}
	shows := func(feature, part, contentType string, data []byte) Question {
		value := `{"content_type":"` + contentType + `","data":"` + base64.StdEncoding.EncodeToString(data) + `"}`
		q := Question{feature, question(`{"messages":[{"content":[{"text":"What is this?","type":"text"},{"`+part+`":`+value+`,"type":"`+part+`"}],"role":"user"}]}`, answerBound), answered}
		q.Request.Media = map[string]supplier.Media{upstream.MediaPlace(0, 1, part): {
			ContentType: contentType, Bytes: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		}}
		return q
	}
	return []Question{
		ask("", "", answered),
		ask(featureSchema, `"output_schema":`+capitalSchema, func(r *supplier.Result) bool {
			_, err := catalog.Answer(json.RawMessage(capitalSchema), *r.Text)
			return err == nil
		}),
		ask(featureObject, `"output_schema":`+catalog.AnyObject, func(r *supplier.Result) bool {
			_, err := catalog.Answer(json.RawMessage(catalog.AnyObject), *r.Text)
			return err == nil
		}),
		shows(featureImages, upstream.PartImage, "image/png", grey()),
		shows(featureAudio, upstream.PartAudio, "audio/wav", silence()),
		shows(featureDocuments, upstream.PartDocument, "application/pdf", []byte(emptyPDF)),
		ask(featureTools, `"tool_choice":"required","tools":[{"name":"get_capital","parameters":{"properties":{"country":{"type":"string"}},"required":["country"],"type":"object"}}]`,
			func(r *supplier.Result) bool { return len(r.ToolCalls) > 0 }),
		ask(featureReasoning, `"reasoning":"low"`, func(r *supplier.Result) bool {
			return r.Reasoning != "" || r.Usage.ReasoningTokens > 0
		}),
		ask(featureSearch, `"web_search":true`, func(r *supplier.Result) bool { return len(r.Citations) > 0 }),
	}
}

func question(input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: string(catalog.TextChat), SubmitKey: "probe/1", Input: json.RawMessage(input), Parameters: json.RawMessage("{" + parameters + "}"),
	}
}

const capitalSchema = `{"additionalProperties":false,"properties":{"capital":{"type":"string"}},"required":["capital"],"type":"object"}`

// emptyPDF is a PDF of one empty page.
const emptyPDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
xref
0 4
0000000000 65535 f 
0000000009 00000 n 
0000000052 00000 n 
0000000101 00000 n 
trailer<</Size 4/Root 1 0 R>>
startxref
164
%%EOF
`

// grey returns a picture, as a PNG.
func grey() []byte {
	m := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = 128
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// silence returns a second of it, as a WAV file.
func silence() []byte {
	const rate = 8000 // bytes of 8 bits a second
	header := []byte("RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00")
	return append(header, bytes.Repeat([]byte{128}, rate)...)
}
