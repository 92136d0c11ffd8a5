package replicate_test

import (
	"context"
	"testing"
	"time"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestPublished validates the requests, and the fakes' answers, by Replicate's published document. Models' inputs are
// no part of it.
func TestPublished(t *testing.T) {
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: harness(t),
		Other: func(t *testing.T, a supplier.Adapter) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for _, r := range []supplier.Request{
				request("image.generate", "test/painter", `{"prompt":"A fox"}`, `{}`),
				withMedia(request("image.edit", "test/editor:4eb8", `{"prompt":"Blue","images":[{}]}`, `{}`), "/images/0"),
			} {
				if _, err := a.Submit(ctx, r); err != nil {
					t.Error(err)
				}
			}
		},
		OtherAnswer: later("", ""),
		Want: map[string][]string{
			"GET /account":                     nil,
			"GET /predictions/{prediction_id}": nil,
			"POST /models/{model_owner}/{model_name}/predictions": {
				"header cancel-after", "header prefer", "input.aspect_ratio", "input.audio", "input.audio_file", "input.duration", "input.image", "input.language", "input.max_tokens", "input.num_outputs",
				"input.prompt", "input.seed", "input.stop_sequences", "input.system_prompt", "input.temperature", "input.text", "input.top_p",
				"input.upscale_factor", "input.video",
			},
			"POST /predictions":                        {"header cancel-after", "input.image", "input.prompt", "version"},
			"POST /predictions/{prediction_id}/cancel": nil,
		},
	})
}
