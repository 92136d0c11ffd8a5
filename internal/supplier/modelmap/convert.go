package modelmap

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/supplier"
)

var (
	errValue = errors.New("has a value that the model doesn't know")
	errRange = errors.New("is out of the model's range")
	errTurns = errors.New("is more than one turn of the user")
	errMedia = errors.New("can't be read")
)

// convert returns the model's value of a neutral one. With dry, media aren't read and stand as nil.
func (r rule) convert(name string, value json.RawMessage, media map[string]supplier.Media, dry bool) (any, error) {
	switch r.As {
	case asSize, asWidth, asHeight:
		return r.size(value)
	case asJoined:
		return r.joined(value)
	case asListed:
		return listed(value)
	case asTongue:
		return r.language(value)
	case asTurn:
		return turn(value)
	case asMedia:
		return one(name, value, media, dry)
	case asAlbum:
		return r.album(name, value, media, dry)
	default:
		return r.value(value)
	}
}

func (r rule) value(value json.RawMessage) (any, error) {
	plain := string(value)
	var text string
	if json.Unmarshal(value, &text) == nil {
		plain = text
	}
	if len(r.Only) > 0 && !slices.Contains(r.Only, plain) {
		return nil, errValue
	}
	if r.Values != nil {
		mapped, ok := r.Values[plain]
		if !ok {
			return nil, errValue
		}
		return mapped, nil
	}
	if r.Least != nil || r.Most != nil {
		n, err := strconv.ParseFloat(plain, 64)
		if err != nil || !r.within(n) {
			return nil, errRange
		}
	}
	return value, nil
}

func (r rule) within(n float64) bool {
	return (r.Least == nil || n >= *r.Least) && (r.Most == nil || n <= *r.Most)
}

func (r rule) size(value json.RawMessage) (any, error) {
	var text string
	var w, h int
	if json.Unmarshal(value, &text) != nil {
		return nil, errValue
	}
	if _, err := fmt.Sscanf(text, "%dx%d", &w, &h); err != nil {
		return nil, errValue
	}
	for _, side := range []int{w, h} {
		if !r.within(float64(side)) || r.Step > 0 && side%r.Step != 0 {
			return nil, errRange
		}
	}
	if r.Area > 0 && w*h > r.Area {
		return nil, errRange
	}
	switch r.As {
	case asWidth:
		return w, nil
	case asHeight:
		return h, nil
	default:
		return map[string]int{"width": w, "height": h}, nil
	}
}

func (r rule) joined(value json.RawMessage) (any, error) {
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil, errValue
	}
	for _, s := range list {
		if strings.Contains(s, r.Separator) {
			return nil, errValue // it would come apart elsewhere than it was put together
		}
	}
	return strings.Join(list, r.Separator), nil
}

func listed(value json.RawMessage) (any, error) {
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil, errValue
	}
	return strings.Join(list, ", "), nil
}

// language is the value of a tag's language, such as pt of pt-BR.
func (r rule) language(value json.RawMessage) (any, error) {
	var tag string
	if json.Unmarshal(value, &tag) != nil {
		return nil, errValue
	}
	language, _, _ := strings.Cut(tag, "-")
	plain, err := json.Marshal(strings.ToLower(language))
	if err != nil {
		return nil, errValue
	}
	return r.value(plain)
}

func turn(value json.RawMessage) (any, error) {
	var list []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	if json.Unmarshal(value, &list) != nil || len(list) != 1 || list[0].Role != "user" {
		return nil, errTurns
	}
	return list[0].Content, nil
}

func one(name string, value json.RawMessage, media map[string]supplier.Media, dry bool) (any, error) {
	pointer := "/" + name
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		if len(list) != 1 {
			return nil, errRange
		}
		pointer += "/0"
	}
	if dry {
		return nil, nil
	}
	return address(media[pointer])
}

func (r rule) album(name string, value json.RawMessage, media map[string]supplier.Media, dry bool) (any, error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || !r.within(float64(len(list))) {
		return nil, errRange
	}
	if dry {
		return nil, nil
	}
	addresses := make([]string, len(list))
	for i := range list {
		a, err := address(media["/"+name+"/"+strconv.Itoa(i)])
		if err != nil {
			return nil, err
		}
		addresses[i] = a
	}
	return addresses, nil
}

// address returns a media value as a data: address.
func address(m supplier.Media) (string, error) {
	if m.Open == nil {
		return "", errMedia
	}
	body, err := m.Open()
	if err != nil {
		return "", errMedia
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	if err != nil {
		return "", errMedia
	}
	return "data:" + m.ContentType + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
