package gguf_test

import (
	"encoding/binary"
	"math"
	"testing"
)

// layout is a tensor as the file describes it; values are the data at its place.
type layout struct {
	shape  []uint64
	values []float32
}

// reader reads a GGUF file by its specification, not by the code that wrote it.
type reader struct {
	t    *testing.T
	rest []byte
}

func (r *reader) bytes(n uint64) []byte {
	r.t.Helper()
	if n > uint64(len(r.rest)) {
		r.t.Fatalf("the file ends %d bytes early", n-uint64(len(r.rest)))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint32() uint32   { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *reader) uint64() uint64   { return binary.LittleEndian.Uint64(r.bytes(8)) }
func (r *reader) float32() float32 { return math.Float32frombits(r.uint32()) }
func (r *reader) string() string   { return string(r.bytes(r.uint64())) }

func (r *reader) value(kind uint32) any {
	r.t.Helper()
	switch kind {
	case 4:
		return r.uint32()
	case 5:
		return int32(r.uint32())
	case 6:
		return r.float32()
	case 7:
		return r.bytes(1)[0] == 1
	case 8:
		return r.string()
	case 9:
		return r.array()
	default:
		r.t.Fatalf("a value of type %d", kind)
		return nil
	}
}

func (r *reader) array() []any {
	r.t.Helper()
	kind, n := r.uint32(), r.uint64()
	values := make([]any, 0, n)
	for range n {
		values = append(values, r.value(kind))
	}
	return values
}

// read returns the metadata and the tensors of a whole file, and fails on anything beside them.
func read(t *testing.T, file []byte) (map[string]any, map[string]layout) {
	t.Helper()
	r := &reader{t, file}
	if head, version := string(r.bytes(4)), r.uint32(); head != "GGUF" || version != 3 {
		t.Fatalf("%q of version %d", head, version)
	}
	tensors, keys := r.uint64(), r.uint64()
	meta := map[string]any{}
	for range keys {
		key := r.string()
		if _, twice := meta[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		meta[key] = r.value(r.uint32())
	}
	return meta, r.tensors(len(file), tensors)
}

// tensors reads the descriptions and then the data, which has to follow without gaps but padding.
func (r *reader) tensors(size int, n uint64) map[string]layout {
	r.t.Helper()
	type place struct {
		name   string
		shape  []uint64
		offset uint64
	}
	places := make([]place, 0, n)
	for range n {
		p := place{name: r.string()}
		for range r.uint32() {
			p.shape = append(p.shape, r.uint64())
		}
		if kind := r.uint32(); kind != 0 {
			r.t.Errorf("%s isn't F32 but of type %d", p.name, kind)
		}
		p.offset = r.uint64()
		places = append(places, p)
	}
	r.align(size)
	start := size - len(r.rest)
	found := map[string]layout{}
	for _, p := range places {
		if at := size - len(r.rest) - start; uint64(at) != p.offset {
			r.t.Errorf("%s is said to begin at %d, not %d", p.name, p.offset, at)
		}
		l := layout{shape: p.shape}
		elements := uint64(1)
		for _, d := range p.shape {
			elements *= d
		}
		for range elements {
			l.values = append(l.values, r.float32())
		}
		r.align(size)
		found[p.name] = l
	}
	if len(r.rest) > 0 {
		r.t.Errorf("%d bytes follow the last tensor", len(r.rest))
	}
	return found
}

// align skips the padding to a multiple of 32 bytes, which must be zeros.
func (r *reader) align(size int) {
	r.t.Helper()
	for (size-len(r.rest))%32 != 0 {
		if r.bytes(1)[0] != 0 {
			r.t.Fatalf("padding isn't zero at %d", size-len(r.rest)-1)
		}
	}
}
