package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"unitask/internal/api"
	"unitask/test/crash/invariant"
)

// Look reads an acknowledged task as its caller and as the operator do, and the bytes of its artifacts, into an
// observation.
func (s *Server) Look(ctx context.Context, key string, seen *invariant.Task) error {
	if len(seen.Acknowledged) == 0 {
		return nil
	}
	id := seen.Acknowledged[0]
	got, err := s.Send(ctx, Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id, Key: key})
	if err != nil || got.Status != http.StatusOK {
		return err
	}
	if err := json.Unmarshal(got.Body, &seen.Final); err != nil {
		return err
	}
	if seen.Ledger, err = s.AdminTask(ctx, id); err != nil {
		return err
	}
	seen.Found = true
	for _, a := range seen.Final.Output.Artifacts() {
		file, err := download(ctx, a)
		if err != nil {
			return err
		}
		seen.Files = append(seen.Files, file)
	}
	return nil
}

// download reads the artifact; an address that doesn't give it leaves the sizes empty.
func download(ctx context.Context, a api.Artifact) (invariant.File, error) {
	f := invariant.File{ID: a.ID}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return f, err
	}
	got, err := send(http.DefaultClient, request, nil)
	if err != nil || got.Status != http.StatusOK {
		return f, err
	}
	sum := sha256.Sum256(got.Body)
	f.Bytes, f.SHA256 = int64(len(got.Body)), hex.EncodeToString(sum[:])
	return f, nil
}

// List returns the ids of all tasks that the key may see.
func (s *Server) List(ctx context.Context, key string) ([]string, error) {
	ids, cursor := []string{}, ""
	for {
		got, err := s.Send(ctx, Request{
			Method: http.MethodGet, Path: fmt.Sprintf("%s?limit=%d%s", api.PathTasks, api.MaxListLimit, cursor), Key: key,
		})
		if err != nil {
			return nil, err
		}
		var page api.TaskList
		if err := json.Unmarshal(got.Body, &page); err != nil || got.Status != http.StatusOK {
			return nil, fmt.Errorf("list: %d %s", got.Status, got.Body)
		}
		for _, listed := range page.Data {
			ids = append(ids, listed.ID)
		}
		if page.NextCursor == nil {
			return ids, nil
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}
