package upstream

import (
	"bytes"
	"encoding/base64"
	"errors"

	"unitask/internal/supplier"
)

// AppendBase64 appends the bytes of a media value in base64, of the standard alphabet with padding, for one that has
// none at hand. Its error is ReadMedia's.
func AppendBase64(to []byte, m supplier.Media) ([]byte, error) {
	data, err := ReadMedia(m)
	if err != nil {
		return to, err
	}
	return base64.StdEncoding.AppendEncode(to, data), nil
}

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
