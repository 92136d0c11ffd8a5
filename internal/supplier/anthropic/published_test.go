package anthropic_test

import (
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestPublished validates the requests, and the fakes' answers, by Anthropic's published document.
func TestPublished(t *testing.T) {
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: harness(t),
		More:    []supplier.Request{request(`{"prompt":"Hi"}`, `{}`)},
		Want: map[string][]string{
			"GET /v1/models": {"header anthropic-version"},
			"POST /v1/messages": {
				"header anthropic-version", "max_tokens", "messages[].content", "messages[].content[].source.data",
				"messages[].content[].source.media_type", "messages[].content[].source.type", "messages[].content[].text", "messages[].content[].type", "messages[].role", "model", "output_config.format.schema",
				"output_config.format.type", "stop_sequences[]", "stream",
				"system", "temperature", "top_p",
			},
		},
	})
}
