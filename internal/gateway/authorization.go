package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// evidenceTime bounds the reading of all evidence of one request, which its caller waits for, and meanwhile whoever waits
// for the memory of its body: well within the time that a body waits for memory.
const evidenceTime = 10 * time.Second

// authorization returns the caller's declaration about a person, with the evidence's hashes, or the reason why it
// isn't enough. nil: there is no declaration and the capability needs none. Without evidence that isn't read.
func (g *Gateway) authorization(ctx context.Context, entry catalog.Capability, input json.RawMessage, evidence bool) (*task.Authorization, error) {
	if len(entry.PersonInputs) == 0 {
		return nil, nil
	}
	if refused := entry.CheckAuthorization(input); refused != nil {
		return nil, refused
	}
	raw := catalog.ValueAt(input, "/"+catalog.Authorization)
	if raw == nil {
		return nil, nil
	}
	var said *struct {
		Person    string     `json:"person"`
		Statement string     `json:"statement"`
		Evidence  []struct{} `json:"evidence"`
	}
	if err := json.Unmarshal(raw, &said); err != nil || said == nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	declaration := &task.Authorization{Person: said.Person, Statement: said.Statement}
	if !evidence {
		said.Evidence = nil
	}
	for i := range said.Evidence {
		m, field := evidenceAt(input, i)
		sum, err := g.hashEvidence(ctx, field, m)
		if err != nil {
			return nil, err
		}
		declaration.Evidence = append(declaration.Evidence, sum)
	}
	return declaration, nil
}

func evidenceAt(input json.RawMessage, i int) (m media, field string) {
	defer bulk.Turn(len(input))()
	return mediaAt(input, "/authorization/evidence/"+strconv.Itoa(i))
}

// hashEvidence reads one piece of evidence under the limits of any media value and keeps its SHA-256
// alone.
func (g *Gateway) hashEvidence(ctx context.Context, field string, m media) (string, error) {
	body, err := g.open(ctx, field, m)
	if err != nil {
		return "", unread(ctx, field, err)
	}
	defer func() { _ = body.Close() }()
	sum := sha256.New()
	head := make([]byte, artifact.SniffLen)
	n, err := io.ReadFull(body, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err == nil && !artifact.Proves(head[:n]) {
		return "", fault.Invalid(field, "is neither a picture nor a PDF")
	}
	sum.Write(head[:n])
	if err == nil {
		_, err = io.Copy(sum, body)
	}
	if err != nil {
		return "", unread(ctx, field, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unread is the fault for evidence that could not be read.
func unread(ctx context.Context, field string, err error) error {
	if _, told := errors.AsType[*fault.Error](err); told && ctx.Err() == nil {
		return err
	}
	return fault.Invalid(field, "could not be read in time")
}
