package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
)

func TestCheckAuthorization(t *testing.T) {
	c := mustDefault(t)
	required := func(message string) *fault.Error {
		return fault.New(fault.AuthorizationRequired, message).WithDetails(
			fault.Detail{Field: "input.authorization", Message: `supply {"person":"none"} if no identifiable person is shown`},
			fault.Detail{Field: "input.authorization", Message: `or {"person":"authorized","statement":"…"} saying how each person shown agreed; "evidence" may hold media that prove it`},
		)
	}
	for _, tt := range []struct {
		capability catalog.Name
		input      string
		want       *fault.Error
	}{
		{"text.chat", `{"prompt":"a"}`, nil},
		{"image.edit", `{"images":[` + imageURL + `]}`, required("input.authorization is required: input.images may show a person")},
		{"image.edit", `{"images":[` + imageURL + `],` + noPerson + `}`, nil},
		{"image.edit", `{"mask":` + imageURL + `}`, nil},
		{"video.generate", `{"prompt":"a"}`, nil},
		{"video.generate", `{"image":` + imageURL + `}`, required("input.authorization is required: input.image may show a person")},
		{
			"video.generate", `{"reference_images":[],"last_image":{}}`,
			required("input.authorization is required: input.last_image, input.reference_images may show a person"),
		},
		{"image.upscale", `{"image":` + imageURL + `}`, required("input.authorization is required: input.image may show a person")},
		{"image.background_remove", `{"image":` + imageURL + `}`, required("input.authorization is required: input.image may show a person")},
		{"video.extend", `{"video":` + imageURL + `}`, required("input.authorization is required: input.video may show a person")},
		{"video.generate", `{"last_image":{},` + noPerson + `}`, nil},
	} {
		entry, _ := c.Get(tt.capability)
		got := entry.CheckAuthorization(json.RawMessage(tt.input))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(fault.Error{})); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.capability, tt.input, diff)
		}
	}
}

func TestMediaPointers(t *testing.T) {
	c := mustDefault(t)
	for _, tt := range []struct {
		capability catalog.Name
		input      string
		want       []string
	}{
		{"text.chat", `{"prompt":"a"}`, nil},
		{"audio.transcribe", `{"audio":` + imageURL + `}`, []string{"/audio"}},
		{"image.edit", `{"mask":` + imageURL + `,"images":[` + imageURL + `,` + imageURL + `]}`, []string{"/images/0", "/images/1", "/mask"}},
		{
			"video.generate",
			`{"image":` + imageURL + `,"reference_images":[` + imageURL + `],"authorization":{"person":"authorized","evidence":[` + imageURL + `]}}`,
			[]string{"/image", "/reference_images/0", "/authorization/evidence/0"},
		},
		{"video.generate", `{"prompt":"a"}`, nil},
		{"video.generate", `not JSON`, nil},
		{"video.generate", `{"image":` + imageURL + `,"reference_images":{"*":1,"0":2}}`, []string{"/image"}},
	} {
		entry, _ := c.Get(tt.capability)
		if diff := cmp.Diff(tt.want, catalog.MediaPointers(entry, json.RawMessage(tt.input))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.capability, tt.input, diff)
		}
	}
}
