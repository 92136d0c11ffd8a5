package openai_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// part is one part of a form as a server reads it.
type part struct{ Name, File, Type, Body string }

// posted is a server that reads one form; held says that it is as published.
func posted(t *testing.T, answer http.Handler, held bool) (url string, parts func() []part) {
	t.Helper()
	var got []part
	var read http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reader, err := r.MultipartReader()
		for err == nil {
			var p *multipart.Part
			if p, err = reader.NextPart(); err == nil {
				var body bytes.Buffer
				_, err = body.ReadFrom(p)
				got = append(got, part{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), body.String()})
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("form: %v", err)
		}
		answer.ServeHTTP(w, r)
	})
	if held {
		read = suppliertest.Held(t, read)
	}
	srv := httptest.NewServer(read)
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", func() []part { return got }
}

// TestForms shows the parts of the requests that are forms.
func TestForms(t *testing.T) {
	tests := []struct {
		name    string
		options map[string]string
		request supplier.Request
		answer  string
		want    []part
	}{
		{
			name: "edit", request: editRequest(`{"n":2,"aspect_ratio":"3:2","format":"jpeg","quality":"high","seed":1}`), answer: imageAnswer,
			want: []part{
				{Name: "model", Body: "model-1"},
				{Name: "prompt", Body: "Make it blue"},
				{Name: "n", Body: "2"},
				{Name: "size", Body: "1536x1024"},
				{Name: "quality", Body: "high"},
				{Name: "output_format", Body: "jpeg"},
				{"image[]", "media.png", "image/png", "first"},
				{"image[]", "media.jpg", "image/jpeg", "second"},
				{"mask", "media.png", "image/png", "mask"},
			},
		},
		{
			name: "edit by other fields", request: editRequest(`{"n":1,"aspect_ratio":"3:2","seed":1,"format":"png"}`), answer: imageAnswer,
			options: map[string]string{"image_fields": "aspect_ratio seed", "image_answer": "url"},
			want: []part{
				{Name: "model", Body: "model-1"},
				{Name: "prompt", Body: "Make it blue"},
				{Name: "seed", Body: "1"},
				{Name: "aspect_ratio", Body: "3:2"},
				{Name: "response_format", Body: "url"},
				{"image[]", "media.png", "image/png", "first"},
				{"image[]", "media.jpg", "image/jpeg", "second"},
				{"mask", "media.png", "image/png", "mask"},
			},
		},
		{
			name: "transcription", request: transcribeRequest(`{"language":"pt-BR","timestamps":"word","format":"srt"}`), answer: verboseAnswer,
			want: []part{
				{Name: "model", Body: "whisper-1"},
				{Name: "response_format", Body: "verbose_json"},
				{Name: "language", Body: "pt"},
				{Name: "timestamp_granularities[]", Body: "word"},
				{Name: "timestamp_granularities[]", Body: "segment"},
				{"file", "media.wav", "audio/wav", recording},
			},
		},
		{
			name: "plain transcription", request: transcribeRequest(`{"timestamps":"none","format":"text"}`), answer: verboseAnswer,
			options: map[string]string{"transcripts": "json"},
			want: []part{
				{Name: "model", Body: "whisper-1"},
				{Name: "response_format", Body: "json"},
				{"file", "media.wav", "audio/wav", recording},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url, parts := posted(t, suppliertest.JSON(200, tt.answer), tt.options["image_fields"] == "")
			if _, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url, Options: tt.options}), tt.request, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, parts()); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadableMedia shows that a request whose media can't be read isn't sent.
func TestUnreadableMedia(t *testing.T) {
	url, parts := posted(t, suppliertest.JSON(200, verboseAnswer), true)
	r := transcribeRequest(`{}`)
	r.Media["/audio"] = supplier.Media{ContentType: "audio/wav", Open: func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }}
	_, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url}), r, false)
	want := suppliertest.Verdict{Code: fault.Internal, Sent: supplier.NotSent}
	if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
	if got := parts(); got != nil {
		t.Errorf("sent %v", got)
	}
}
