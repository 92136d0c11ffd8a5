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
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// evidenceTime bounds the reading of all evidence of one request, which its caller waits for.
const evidenceTime = 20 * time.Second

// authorization returns what the caller declared about a person, with the evidence's hashes, or why that
// isn't enough. nil: nothing was declared and nothing has to be.
func (g *Gateway) authorization(ctx context.Context, entry catalog.Capability, input json.RawMessage) (*task.Authorization, error) {
	if len(entry.PersonInputs) == 0 {
		return nil, nil
	}
	if refused := entry.CheckAuthorization(input); refused != nil {
		return nil, refused
	}
	var in struct {
		Authorization *struct {
			Person    string     `json:"person"`
			Statement string     `json:"statement"`
			Evidence  []struct{} `json:"evidence"`
		} `json:"authorization"`
	}
	if err := decodeInto(input, &in); err != nil || in.Authorization == nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTime)
	defer cancel()
	word := &task.Authorization{Person: in.Authorization.Person, Statement: in.Authorization.Statement}
	for i := range in.Authorization.Evidence {
		m, field := mediaAt(input, "/authorization/evidence/"+strconv.Itoa(i))
		sum, err := g.hashEvidence(ctx, field, m)
		if err != nil {
			return nil, err
		}
		word.Evidence = append(word.Evidence, sum)
	}
	return word, nil
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
