package tui_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

// sender is a fake service that takes large files ahead.
type sender struct {
	*fake

	told chan int64 // how much has been sent; closed: all
}

func (s *sender) Upload(_ context.Context, f client.File, onProgress func(sent int64)) (api.Upload, error) {
	for n := range s.told {
		onProgress(n)
	}
	if f.ContentType != "image/png" {
		return api.Upload{}, fault.Invalid("content_type", "is "+f.ContentType)
	}
	return api.Upload{Artifact: "art_87654321", Bytes: f.Bytes}, nil
}

// TestLargeFileGoesAhead: a file of more than 1 MiB is sent before the request, which names it; its way is shown.
func TestLargeFileGoesAhead(t *testing.T) {
	folder(t)
	large := pixel + strings.Repeat("\x00", 2<<20)
	for name, content := range map[string]string{"large.png": large, "large.pdf": "%PDF-1.7" + large} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bubble(t, func(t *testing.T) {
		service := &sender{newFake(imageEdit()), make(chan int64)}
		r := newTestDashboard(t, service)
		r.press("enter", "x", "tab", "@large.png", "enter", "@a.png", "ctrl+s")
		service.told <- 1_000_000
		r.settle()
		r.shows("sending a file… 1.0 MB of 2.1 MB")
		close(service.told)
		r.settle()
		r.hides("sending")
		want := []creation{{Request: api.CreateRequest{
			Capability: "image.edit",
			Input:      []byte(`{"images":[{"artifact":"art_87654321"},{"content_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUg=="}],"prompt":"x"}`),
		}, Key: "key-0001"}}
		if diff := cmp.Diff(want, service.creations); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	bubble(t, func(t *testing.T) {
		service := &sender{newFake(imageEdit()), make(chan int64)}
		close(service.told)
		r := newTestDashboard(t, service)
		r.press("enter", "x", "tab", "@large.pdf", "ctrl+s")
		r.shows("✗ large.pdf: INVALID_REQUEST: content_type is")
		if len(service.creations) > 0 {
			t.Error("the request was sent without its file")
		}
	})
}
