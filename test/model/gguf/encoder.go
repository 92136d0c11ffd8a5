package gguf

import (
	"encoding/binary"
	"math"
)

// The format's numbers: a little-endian file of version 3, and the types of values that are used.
const (
	magic     = "GGUF"
	version   = 3
	alignment = 32 // of every tensor and of the data's start, in bytes; the default of the format

	typeUint32  uint32 = 4
	typeInt32   uint32 = 5
	typeFloat32 uint32 = 6
	typeBool    uint32 = 7
	typeString  uint32 = 8
	typeArray   uint32 = 9

	tensorF32 uint32 = 0
)

var order = binary.LittleEndian

// encoder collects a file's three parts: metadata, descriptions of tensors, their data.
type encoder struct {
	keys    uint64
	meta    []byte
	tensors uint64
	infos   []byte
	data    []byte
}

// file returns the whole file.
func (e *encoder) file() []byte {
	b := []byte(magic)
	b = order.AppendUint32(b, version)
	b = order.AppendUint64(b, e.tensors)
	b = order.AppendUint64(b, e.keys)
	b = append(b, e.meta...)
	b = append(b, e.infos...)
	return append(pad(b), e.data...)
}

func (e *encoder) text(key, value string) {
	e.key(key, typeString)
	e.meta = appendString(e.meta, value)
}

func (e *encoder) count(key string, value uint32) {
	e.key(key, typeUint32)
	e.meta = order.AppendUint32(e.meta, value)
}

func (e *encoder) number(key string, value float32) {
	e.key(key, typeFloat32)
	e.meta = appendFloat(e.meta, value)
}

func (e *encoder) flag(key string, value bool) {
	e.key(key, typeBool)
	var b byte
	if value {
		b = 1
	}
	e.meta = append(e.meta, b)
}

func (e *encoder) texts(key string, values []string) {
	e.array(key, typeString, len(values))
	for _, value := range values {
		e.meta = appendString(e.meta, value)
	}
}

func (e *encoder) numbers(key string, values []float32) {
	e.array(key, typeFloat32, len(values))
	for _, value := range values {
		e.meta = appendFloat(e.meta, value)
	}
}

func (e *encoder) kinds(key string, values []int32) {
	e.array(key, typeInt32, len(values))
	for _, value := range values {
		e.meta = order.AppendUint32(e.meta, uint32(value))
	}
}

// tensor adds a tensor of F32 values.
func (e *encoder) tensor(name string, values []float32, shape ...int) {
	e.tensors++
	e.infos = appendString(e.infos, name)
	e.infos = order.AppendUint32(e.infos, uint32(len(shape)))
	for _, n := range shape {
		e.infos = order.AppendUint64(e.infos, uint64(n))
	}
	e.infos = order.AppendUint32(e.infos, tensorF32)
	e.infos = order.AppendUint64(e.infos, uint64(len(e.data)))
	for _, value := range values {
		e.data = appendFloat(e.data, value)
	}
	e.data = pad(e.data)
}

func (e *encoder) key(key string, kind uint32) {
	e.keys++
	e.meta = appendString(e.meta, key)
	e.meta = order.AppendUint32(e.meta, kind)
}

func (e *encoder) array(key string, kind uint32, n int) {
	e.key(key, typeArray)
	e.meta = order.AppendUint32(e.meta, kind)
	e.meta = order.AppendUint64(e.meta, uint64(n))
}

func appendString(b []byte, s string) []byte {
	return append(order.AppendUint64(b, uint64(len(s))), s...)
}

func appendFloat(b []byte, f float32) []byte { return order.AppendUint32(b, math.Float32bits(f)) }

// pad fills b with zeros up to the alignment.
func pad(b []byte) []byte {
	for len(b)%alignment != 0 {
		b = append(b, 0)
	}
	return b
}
