package suppliertest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// Media returns a media value of these bytes.
func Media(contentType, data string) supplier.Media {
	return supplier.Media{ContentType: contentType, Bytes: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

// ChatWith returns a chat in which a user asks "What is this?", after a system message and before these media, each of
// the kind of part that its content type belongs to. Their bytes are "abc", "YWJj" in base64.
func ChatWith(model string, contentTypes ...string) supplier.Request {
	const data = "abc"
	parts := `{"text":"What is this?","type":"text"}`
	media := map[string]supplier.Media{}
	for i, contentType := range contentTypes {
		kind, _, _ := strings.Cut(contentType, "/")
		if kind == "application" || kind == "text" {
			kind = "document"
		}
		value := `{"content_type":"` + contentType + `","data":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}`
		parts += `,{"` + kind + `":` + value + `,"type":"` + kind + `"}`
		media["/messages/1/content/"+strconv.Itoa(i+1)+"/"+kind] = Media(contentType, data)
	}
	return supplier.Request{
		Capability: string(catalog.TextChat), Model: model, SubmitKey: "task_0/1", Parameters: json.RawMessage(`{}`), Media: media,
		Input: json.RawMessage(`{"messages":[{"content":"Be brief.","role":"system"},{"content":[` + parts + `],"role":"user"}]}`),
	}
}
