package openai

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

type moderationRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type moderationAnswer struct {
	upstream.Envelope
	Results []moderationResult `json:"results"`
	Usage   json.RawMessage    `json:"usage"`
}

type moderationResult struct {
	Flagged    *bool                      `json:"flagged"`
	Categories map[string]json.RawMessage `json:"categories"`
	Scores     json.RawMessage            `json:"category_scores"`
}

// Moderate asks about the texts. An answer that doesn't judge each of them is unusable.
func (a *adapter) Moderate(ctx context.Context, model string, texts []string) ([]supplier.Judgement, error) {
	answer, err := a.format.Post(ctx, "/moderations", moderationRequest{Model: model, Input: texts}, chatLimit)
	if err != nil {
		return nil, err
	}
	body, err := a.decodeModeration(answer, len(texts))
	if err != nil {
		return nil, err
	}
	judged := make([]supplier.Judgement, 0, len(texts))
	for _, r := range body.Results {
		judged = append(judged, r.judgement())
	}
	return judged, nil
}

// decodeModeration returns an answer that judges each of the texts.
func (a *adapter) decodeModeration(answer upstream.Answer, texts int) (moderationAnswer, error) {
	var body moderationAnswer
	err := upstream.Decode(answer.Body, &body)
	if err = a.format.Problem(answer, body.Envelope, err); err != nil {
		return body, err
	}
	if len(body.Results) != texts {
		return body, upstream.Unusable(answer.Status, errors.New("the answer doesn't judge each text"))
	}
	for _, r := range body.Results {
		if r.Flagged == nil && len(r.Categories) == 0 {
			return body, upstream.Unusable(answer.Status, errors.New("the answer judges a text in no way that is known"))
		}
	}
	return body, nil
}

// judgement reads one result. If a server leaves out the verdict, any category that holds is one.
func (r moderationResult) judgement() supplier.Judgement {
	var j supplier.Judgement
	for name, holds := range r.Categories {
		if string(holds) != "true" {
			continue
		}
		j.Flagged = true
		if plainWord(name) {
			j.Categories = append(j.Categories, name)
		}
	}
	slices.Sort(j.Categories)
	if r.Flagged != nil {
		j.Flagged = *r.Flagged
	}
	return j
}

// plainWord reports whether a category's name is fit for a ledger.
func plainWord(name string) bool {
	const most = 64 // bytes, of any name in use
	return name != "" && len(name) <= most && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/") == ""
}
