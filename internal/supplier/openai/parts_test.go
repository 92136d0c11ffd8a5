package openai_test

import (
	"slices"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// TestFeaturesOfParts: a server is asked for the parts that it is known to take; another is passed over because of the
// messages.
func TestFeaturesOfParts(t *testing.T) {
	const other = "https://models.example/v1"
	for _, tt := range []struct {
		url, features, contentType string
		want                       string
	}{
		{other, "", "image/png", "the server isn't known to take images in a chat (features: images says that it does)"},
		{other, "images", "image/png", ""},
		{other, "images", "audio/wav", "the server isn't known to take audio in a chat (features: audio says that it does)"},
		{other, "images audio", "application/pdf", "the server isn't known to take documents in a chat (features: documents says that it does)"},
		{other, "documents", "application/pdf", ""},
		{"https://api.openai.com/v1", "", "application/pdf", ""},
		{"https://api.openai.com/v1", "none", "image/png", "the server isn't known to take images in a chat (features: images says that it does)"},
	} {
		a, err := openai.New(supplier.Config{BaseURL: tt.url, Options: map[string]string{openai.OptionFeatures: tt.features}})
		if err != nil {
			t.Fatal(err)
		}
		r := suppliertest.ChatWith("model-1", tt.contentType)
		if got := supplier.Refuses(openai.Kind(), a, r); got != tt.want {
			t.Errorf("%s, features %q, %s: got %q, want %q", tt.url, tt.features, tt.contentType, got, tt.want)
		}
		var fields []string
		if tt.want != "" {
			fields = []string{"input.messages"}
		}
		if got := supplier.Unhonoured(openai.Kind(), a, r); !slices.Equal(got, fields) {
			t.Errorf("%s, features %q, %s: because of %q, want %q", tt.url, tt.features, tt.contentType, got, fields)
		}
	}
}

// TestUnsuitedRecording: a recording whose type the format lacks is sent nowhere, and may go to another route.
func TestUnsuitedRecording(t *testing.T) {
	a, err := openai.New(supplier.Config{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Submit(t.Context(), suppliertest.ChatWith("model-1", "audio/ogg"))
	if e := supplier.AsError(err); e.Sent != supplier.NotSent || e.Fault.Code != fault.InvalidRequest {
		t.Errorf("got %v, %s", e, e.Sent)
	}
}

// TestSchemaFeature: a request for JSON goes to servers alone that are known to hold their models to a schema.
func TestSchemaFeature(t *testing.T) {
	const (
		refusal = "the server isn't known to answer with the JSON of a schema (features: json_schema says that it does)"
		refused = "the server isn't known to answer with JSON of any form (features: json_object says that it does)"
		strict  = `{"additionalProperties":false,"type":"object"}`
	)
	for _, tt := range []struct{ url, features, schema, want string }{
		{"https://other.example/v1", "", strict, refusal},
		{"https://other.example/v1", "images json_object", strict, refusal},
		{"https://other.example/v1", "json_schema", strict, ""},
		{"https://api.openai.com/v1", "", strict, ""},
		{"https://api.openai.com/v1", "none", strict, refusal},
		{"https://other.example/v1", "json_schema", catalog.AnyObject, refused},
		{"https://other.example/v1", "json_object", catalog.AnyObject, ""},
		{"https://api.openai.com/v1", "", catalog.AnyObject, ""},
	} {
		a, err := openai.New(supplier.Config{BaseURL: tt.url, Options: map[string]string{openai.OptionFeatures: tt.features}})
		if err != nil {
			t.Fatal(err)
		}
		r := request("text.chat", `{"prompt":"x"}`, `{"output_schema":`+tt.schema+`}`)
		if got := supplier.Refuses(openai.Kind(), a, r); got != tt.want {
			t.Errorf("%s, features %q: %q, want %q", tt.url, tt.features, got, tt.want)
		}
		if tt.want != "" {
			if got := supplier.Unhonoured(openai.Kind(), a, r); len(got) != 1 || got[0] != "parameters.output_schema" {
				t.Errorf("%s, features %q: because of %q", tt.url, tt.features, got)
			}
		}
	}
}
