package gemini

import (
	"context"
	"errors"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

func newChatRequest(r supplier.Request) (*generateRequest, error) {
	var in upstream.ChatInput
	var p upstream.ChatParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return nil, err
	}
	ask := &generateRequest{GenerationConfig: generationConfig{
		MaxOutputTokens: p.MaxOutputTokens, Temperature: p.Temperature, TopP: p.TopP, StopSequences: p.Stop, Seed: p.Seed,
	}}
	thinking, why := newThinking(r.Model, p.Reasoning, p.MaxOutputTokens)
	if why != "" {
		return nil, errors.New(why)
	}
	ask.GenerationConfig.ThinkingConfig = thinking
	if err := ask.GenerationConfig.hold(p); err != nil {
		return nil, err
	}
	ask.offer(p)
	talk, system := in.Talk()
	if p.AnyObject() {
		system = upstream.WithObject(system)
	}
	if system != "" {
		instruction := textContent("", system)
		ask.SystemInstruction = &instruction
	}
	return ask, ask.converse(r, talk)
}

// hold asks for JSON of the schema, if there is one. The format takes none of an object without members; JSON of any form
// may be a list, unless the model is told.
func (c *generationConfig) hold(p upstream.ChatParameters) error {
	if len(p.OutputSchema) == 0 {
		return nil
	}
	c.ResponseMimeType = "application/json"
	if p.AnyObject() {
		return nil
	}
	outline, err := upstream.Outline(p.OutputSchema)
	c.ResponseJSONSchema = outline
	return err
}

// converse adds the messages. The results of a message's calls are one content, whatever number there is of them.
func (ask *generateRequest) converse(r supplier.Request, talk []upstream.ChatMessage) error {
	names, results := map[string]string{}, false
	for _, m := range talk {
		if m.ToolCallID != "" {
			result, err := newResult(m, names[m.ToolCallID])
			if err != nil {
				return err
			}
			if !results {
				ask.Contents = append(ask.Contents, content{Role: "user"})
			}
			results = true
			last := &ask.Contents[len(ask.Contents)-1]
			last.Parts = append(last.Parts, result)
			continue
		}
		results = false
		said, err := newContent(r, m)
		if err != nil {
			return err
		}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
		}
		ask.Contents = append(ask.Contents, said)
	}
	return nil
}

// newContent returns a message in the format.
func newContent(r supplier.Request, m upstream.ChatMessage) (content, error) {
	said := content{Role: m.Role}
	if err := said.addParts(r, m); err != nil || m.Role != "assistant" {
		return said, err
	}
	said.Role = "model"
	k := readKept(r.States[m.Number])
	if n := len(said.Parts); n > 0 {
		said.Parts[n-1].Signature = k.Text
	}
	err := said.addCalls(m.ToolCalls, k, traitsOf(r.Model).third)
	return said, err
}

// addParts adds what a message says. A blank text beside calls is left out.
func (c *content) addParts(r supplier.Request, m upstream.ChatMessage) error {
	says := m.Content.Parts
	if says == nil {
		says = []upstream.Part{{Text: m.Content.Text}}
	}
	for _, p := range says {
		if p.Media == "" {
			if len(m.ToolCalls) == 0 || strings.TrimSpace(p.Text) != "" {
				c.Parts = append(c.Parts, part{Text: p.Text})
			}
			continue
		}
		media := r.Media[p.Media]
		data, err := upstream.ReadMedia(media)
		if err != nil {
			return err
		}
		c.Parts = append(c.Parts, part{InlineData: &blob{MimeType: mimeType(media.ContentType), Data: data}})
	}
	return nil
}

// mimeType is the format's name of a content type.
func mimeType(contentType string) string {
	switch contentType {
	case "audio/mpeg":
		return "audio/mp3"
	case "text/markdown":
		return "text/plain"
	default:
		return contentType
	}
}

func (a *adapter) chat(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	ask, err := newChatRequest(r)
	if err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	reply, err := a.format.Post(ctx, method(r.Model, "generateContent"), ask, upstream.TextLimit(r.Parameters))
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeChat(reply, answer{model: r.Model, asked: ask.bytes()})
}

// decodeChat turns an answer of success into a result. heard is of a request to which no answer has come yet.
func (a *adapter) decodeChat(reply upstream.Answer, heard answer) (supplier.Outcome, error) {
	body, err := a.decodeGenerate(reply)
	if err != nil {
		return supplier.Outcome{}, err
	}
	var told supplier.Told
	told.Add(heard.take(body.Candidates[0]))
	if !heard.texts && !heard.called && heard.finish != finishLength { // all of a short budget may go into thinking
		return supplier.Outcome{}, upstream.Unusable(reply.Status, errNoContent)
	}
	heard.found.add(body.Candidates[0].Grounding)
	heard.usage = body.UsageMetadata
	return heard.outcome(&told), nil
}
