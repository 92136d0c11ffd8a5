package gemini

import (
	"context"
	"encoding/json"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

type embedInput struct {
	Texts []string `json:"texts"`
}

type embedParameters struct {
	Dimensions *int   `json:"dimensions"`
	InputType  string `json:"input_type"`
}

// embedRequest asks for one vector. In a batch each names the model again.
type embedRequest struct {
	Model                string  `json:"model"`
	Content              content `json:"content"`
	OutputDimensionality *int    `json:"outputDimensionality,omitempty"`
	TaskType             string  `json:"taskType,omitempty"`
}

// taskTypes are the models' names of what texts are in a search; promptings stand before the texts to the models that
// know no such names.
var (
	taskTypes  = map[string]string{"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
	promptings = map[string]string{"query": "task: search result | query: ", "document": "title: none | text: "}
)

// prompted reports whether a model is told by words in the text what the text is.
func prompted(model string) bool { return strings.HasPrefix(model, "gemini-embedding-2") }

// Template returns how many bytes may stand before the texts of a request.
func (a *adapter) Template(c catalog.Name, model string) int {
	if c != catalog.TextEmbed || !prompted(model) {
		return 0
	}
	return mostTexts * len(promptings["query"])
}

type embedBatch struct {
	Requests []embedRequest `json:"requests"`
}

// embedAnswer is that of one text or of a batch.
type embedAnswer struct {
	upstream.Envelope
	Embedding     vector          `json:"embedding"`
	Embeddings    []vector        `json:"embeddings"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
}

type vector struct {
	Values []float32 `json:"values"`
}

func (a *adapter) embed(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	var in embedInput
	var p embedParameters
	if err := upstream.DecodeRequest(r, &in, &p); err != nil {
		return supplier.Outcome{}, upstream.Unfit(err)
	}
	batch, asked := embedBatch{}, 0
	taskType, before := taskTypes[p.InputType], ""
	if prompted(r.Model) {
		taskType, before = "", promptings[p.InputType]
	}
	for _, text := range in.Texts {
		text = before + text
		batch.Requests = append(batch.Requests, embedRequest{
			Model: "models/" + r.Model, Content: textContent("", text), OutputDimensionality: p.Dimensions, TaskType: taskType,
		})
		asked += len(text)
	}
	var answer upstream.Answer
	var err error
	if len(batch.Requests) == 1 {
		answer, err = a.format.Post(ctx, method(r.Model, "embedContent"), batch.Requests[0], textLimit)
	} else {
		answer, err = a.format.Post(ctx, method(r.Model, "batchEmbedContents"), batch, textLimit)
	}
	if err != nil {
		return supplier.Outcome{}, err
	}
	return a.decodeEmbed(answer, len(in.Texts), p.Dimensions, asked)
}

// decodeEmbed turns an answer of success into n vectors, all of one length. asked is how much text the
// request carried.
func (a *adapter) decodeEmbed(answer upstream.Answer, n int, dimensions *int, asked int) (supplier.Outcome, error) {
	var body embedAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return supplier.Outcome{}, err
	}
	if n == 1 && len(body.Embeddings) == 0 {
		body.Embeddings = []vector{body.Embedding}
	}
	vectors := make([][]float32, 0, n)
	for _, v := range body.Embeddings {
		vectors = append(vectors, v.Values)
	}
	if err := upstream.CheckVectors(answer.Status, vectors, n, dimensions); err != nil {
		return supplier.Outcome{}, err
	}
	used := supplier.Usage{InputTokens: tokens(body.UsageMetadata, asked, 0).InputTokens}
	return supplier.Outcome{Result: &supplier.Result{Embeddings: vectors, Usage: used}}, nil
}
