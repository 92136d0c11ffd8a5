package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// wideTurns is how many messages a wide chat has; the last one has an image of about a megabyte.
const wideTurns = 20

// wideCallers keep a server busy with them.
const wideCallers = 8

// wideTools are the five tools of a wide chat, each as `"name":…,"description":…,"parameters":…`.
var wideTools = func() (tools []string) {
	for i := range 5 {
		tools = append(tools, fmt.Sprintf(`"name":"tool_%d","description":"Does what tool %d does, and says how it went.","parameters":`+
			`{"type":"object","properties":{"place":{"type":"string","description":"A town."},"days":{"type":"integer","minimum":1}},"required":["place"]}`, i, i))
	}
	return tools
}()

// picture is an image of about a megabyte, in base64.
var picture = sync.OnceValue(func() string {
	const side = 590 // pixels, of three bytes that no packing makes fewer
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(noise.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // into memory
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
})

// wideMessages are the messages of a wide chat, of which the last one has the part.
func wideMessages(part string) string {
	var b strings.Builder
	for i := range wideTurns - 1 {
		role := []string{"user", "assistant"}[i%2]
		b.WriteString(`{"role":"` + role + `","content":"This is message ` + strconv.Itoa(i) + ` of a conversation about a picture that comes last."},`)
	}
	return "[" + b.String() + `{"role":"user","content":[{"type":"text","text":"What is this?"},` + part + `]}]`
}

// wideInput is a wide chat's input and, behind it, its parameters.
func wideInput() string {
	return `"messages":` + wideMessages(`{"type":"image","image":{"content_type":"image/png","data":"`+picture()+`"}}`) +
		`},"parameters":{"tools":[{` + strings.Join(wideTools, `},{`) + `}]`
}

// widePlain is a wide chat without unitask.
func widePlain(address string) target {
	body := `{"model":"mock","messages":` + wideMessages(`{"type":"image_url","image_url":{"url":"data:image/png;base64,`+picture()+`"}}`) +
		`,"tools":[{"type":"function","function":{` + strings.Join(wideTools, `}},{"type":"function","function":{`) + `}}],"max_tokens":1024}`
	raw := []byte("POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return target{address: address, status: 200, next: new(atomic.Int64), request: func(int64) []byte { return raw }}
}
