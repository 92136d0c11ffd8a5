// Command openaigo calls the service by OpenAI's own library for Go, unchanged but for the base URL and the key, and
// prints what it heard as one line of JSON: each kind of call, or with "cut" two calls whose first answer is cut off by
// whoever runs it. Its module is its own, so that the library is no dependency of unitask.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// heard is what each call gave, as test/e2e reads it.
type heard struct {
	Greeting   string
	Streamed   string
	Finish     string
	Tool       string
	Arguments  string
	Town       string
	Object     string // JSON
	Dimensions int
	Image      string // the letters of its format
	Edited     string
	Spoken     string
	Transcript string
	Tasks      []string
}

func main() {
	c := caller{client: openai.NewClient()}
	steps := []func(context.Context) error{c.chat, c.stream, c.tools, c.schema, c.object, c.embeddings, c.images, c.audio}
	if len(os.Args) > 1 && os.Args[1] == "cut" {
		steps = []func(context.Context) error{c.chat, c.hear}
	}
	for _, step := range steps {
		if err := step(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(c.heard); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// caller calls by OPENAI_BASE_URL and OPENAI_API_KEY.
type caller struct {
	client openai.Client
	heard  heard
}

// noted keeps the id of a call's task.
func (c *caller) noted(r *http.Response) {
	if r != nil {
		c.heard.Tasks = append(c.heard.Tasks, r.Header.Get("X-Task-Id"))
	}
}

func asked(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "gpt-5", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func (c *caller) chat(ctx context.Context) error {
	var r *http.Response
	answer, err := c.client.Chat.Completions.New(ctx, asked("Greet me"), option.WithResponseInto(&r))
	if err != nil {
		return err
	}
	c.noted(r)
	c.heard.Greeting = answer.Choices[0].Message.Content
	return nil
}

func (c *caller) stream(ctx context.Context) error {
	s := c.client.Chat.Completions.NewStreaming(ctx, asked("Greet me"))
	defer func() { _ = s.Close() }()
	for s.Next() {
		for _, choice := range s.Current().Choices {
			c.heard.Streamed += choice.Delta.Content
			c.heard.Finish += choice.FinishReason
		}
	}
	return s.Err()
}

func (c *caller) tools(ctx context.Context) error {
	p := asked("What is the weather? In Lund.")
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name:       "get_weather",
		Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"place": map[string]any{"type": "string"}}, "required": []string{"place"}},
	})}
	answer, err := c.client.Chat.Completions.New(ctx, p)
	if err != nil {
		return err
	}
	for _, call := range answer.Choices[0].Message.ToolCalls {
		c.heard.Tool, c.heard.Arguments = call.Function.Name, call.Function.Arguments
	}
	return nil
}

func (c *caller) schema(ctx context.Context) error {
	p := asked("Name a town")
	p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "town", Strict: openai.Bool(true), Schema: map[string]any{
			"type": "object", "properties": map[string]any{"town": map[string]any{"type": "string"}}, "required": []string{"town"}, "additionalProperties": false,
		},
	}}
	answer, err := c.client.Chat.Completions.New(ctx, p)
	if err != nil {
		return err
	}
	var said struct{ Town string }
	err = json.Unmarshal([]byte(answer.Choices[0].Message.Content), &said)
	c.heard.Town = said.Town
	return err
}

func (c *caller) object(ctx context.Context) error {
	p := asked("Name a river")
	p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	answer, err := c.client.Chat.Completions.New(ctx, p)
	if err != nil {
		return err
	}
	c.heard.Object = answer.Choices[0].Message.Content
	return nil
}

func (c *caller) embeddings(ctx context.Context) error {
	answer, err := c.client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "text-embedding-3-small", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a red fox")},
	})
	if err != nil {
		return err
	}
	c.heard.Dimensions = len(answer.Data[0].Embedding)
	return nil
}

// letters are those that name a PNG.
func letters(inline string) ([]byte, string, error) {
	image, err := base64.StdEncoding.DecodeString(inline)
	if err != nil || len(image) < 8 {
		return nil, "", fmt.Errorf("an image of %d bytes: %w", len(image), err)
	}
	return image, string(image[1:4]), nil
}

// imageModel makes images and edits them.
const imageModel = "gpt-image-2"

func (c *caller) images(ctx context.Context) error {
	made, err := c.client.Images.Generate(ctx, openai.ImageGenerateParams{Model: imageModel, Prompt: "a red fox"})
	if err != nil {
		return err
	}
	image, kind, err := letters(made.Data[0].B64JSON)
	if err != nil {
		return err
	}
	c.heard.Image = kind
	p := openai.ImageEditParams{
		Model: imageModel, Prompt: "Make it blue",
		Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{bytes.NewReader(image), openai.File(bytes.NewReader(image), "fox.png", "image/png")}},
	}
	p.SetExtraFields(map[string]any{"authorization": `{"person":"none"}`}) // in a form it sends texts alone
	edited, err := c.client.Images.Edit(ctx, p)
	if err != nil {
		return err
	}
	_, c.heard.Edited, err = letters(edited.Data[0].B64JSON)
	return err
}

func (c *caller) audio(ctx context.Context) error {
	r, err := c.client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{
		Model: "tts-1", Input: "Mind the gap", ResponseFormat: openai.AudioSpeechNewParamsResponseFormatWAV,
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
	})
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	recording, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	c.heard.Spoken = r.Header.Get("Content-Type")
	return c.listen(ctx, recording)
}

func (c *caller) listen(ctx context.Context, recording []byte) error {
	var r *http.Response
	answer, err := c.client.Audio.Transcriptions.New(ctx, openai.AudioTranscriptionNewParams{
		Model: "whisper-1", File: openai.File(bytes.NewReader(recording), "gap.wav", "audio/wav"),
	}, option.WithResponseInto(&r))
	if err != nil {
		return err
	}
	c.noted(r)
	c.heard.Transcript = answer.Text
	return nil
}

// hear has a recording of silence written down.
func (c *caller) hear(ctx context.Context) error {
	const size = 800 // samples, a tenth of a second
	wav := append([]byte("RIFF\x44\x03\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x20\x03\x00\x00"), bytes.Repeat([]byte{0x80}, size)...)
	return c.listen(ctx, wav)
}
