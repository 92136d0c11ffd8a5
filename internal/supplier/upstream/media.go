package upstream

import (
	"bytes"
	"errors"

	"unitask/internal/supplier"
)

// ReadMedia returns the bytes of a media value. Its error doesn't show them.
func ReadMedia(m supplier.Media) ([]byte, error) {
	unreadable := errors.New("a media value can't be read")
	if m.Open == nil {
		return nil, unreadable
	}
	body, err := m.Open()
	if err != nil {
		return nil, unreadable
	}
	defer func() { _ = body.Close() }()
	var b bytes.Buffer
	b.Grow(int(m.Bytes) + bytes.MinRead)
	if _, err := b.ReadFrom(body); err != nil {
		return nil, unreadable
	}
	return b.Bytes(), nil
}
