package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// work is one accepted request: all that is needed to say how far it is and to make its result.
// It is a job's State, so its members' names outlive a release.
type work struct {
	Capability string          `json:"capability"`
	Product    json.RawMessage `json:"product"` // a product of the capability's service
	Started    time.Time       `json:"started"`
	Takes      time.Duration   `json:"takes"` // nanoseconds
	Fail       fault.Code      `json:"fail,omitempty"`
	Stuck      string          `json:"stuck,omitempty"`

	shaped
}

// product is the requested result, in its stored form.
type product interface {
	make() (*supplier.Result, error)
}

// service is one capability: how long it takes, how its request is read and its product stored.
type service struct {
	async bool
	takes time.Duration
	// read returns the product and the text in which magic inputs are looked for; its error is an
	// *supplier.Error.
	read       func(r supplier.Request) (product, string, error)
	newProduct func() product
}

// services is the sandbox's whole offer.
var services = map[string]service{
	"text.chat":               {read: readChat, newProduct: func() product { return &chat{} }},
	"text.embed":              {read: readEmbedding, newProduct: func() product { return &embedding{} }},
	"text.moderate":           {read: readModeration, newProduct: func() product { return &moderation{} }},
	"text.rerank":             {read: readRanking, newProduct: func() product { return &ranking{} }},
	"image.generate":          {async: true, takes: 1500 * time.Millisecond, read: readPicture, newProduct: func() product { return &picture{} }},
	"image.edit":              {async: true, takes: 1500 * time.Millisecond, read: readEdit, newProduct: func() product { return &picture{} }},
	"image.upscale":           {async: true, takes: 1500 * time.Millisecond, read: readEnlargement, newProduct: func() product { return &enlargement{} }},
	"image.background_remove": {async: true, takes: 1500 * time.Millisecond, read: readCutout, newProduct: func() product { return &cutout{} }},
	"video.generate":          {async: true, takes: 4 * time.Second, read: readVideo, newProduct: func() product { return &video{} }},
	"video.extend":            {async: true, takes: 4 * time.Second, read: readExtension, newProduct: func() product { return &extension{} }},
	"audio.speech":            {read: readSpeech, newProduct: func() product { return &speech{} }},
	"audio.transcribe":        {read: readTranscript, newProduct: func() product { return &transcript{} }},
}

// refuses says why a request can't be honoured, "" when it can.
func refuses(r supplier.Request) string {
	r = native(r)
	if wantedClass(r.Input) != classOf(r.Model) {
		return "it serves requests for another class of supplier"
	}
	var p parameters
	if err := json.Unmarshal(r.Parameters, &p); err != nil {
		return "the parameters can't be read"
	}
	return p.refused(r.Capability)
}

// Poll says how far the job is, by the clock and the job's state alone.
func (a *adapter) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	if err := interrupted(ctx, supplier.Unknown); err != nil {
		return supplier.Outcome{}, err
	}
	var w work
	if err := json.Unmarshal(j.State, &w); err != nil || services[w.Capability].newProduct == nil {
		return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.Internal, messages[fault.Internal], err)
	}
	if a.memory.isCanceled(j.ID) {
		return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "the work was canceled", nil)
	}
	elapsed := time.Since(w.Started)
	if elapsed < w.Takes || w.Stuck == stuckRunning {
		return supplier.Outcome{Job: w.running(j, elapsed)}, nil
	}
	if w.Fail != "" {
		return supplier.Outcome{}, failure(supplier.Failed, w.Fail)
	}
	result, err := w.finish(supplier.Failed)
	if err != nil {
		return supplier.Outcome{}, err
	}
	return supplier.Outcome{Result: result}, nil
}

// running returns the job with its progress. Work that is stuck stays just below its end.
func (w work) running(j supplier.Job, elapsed time.Duration) *supplier.Job {
	progress := 0.95
	if w.Takes > 0 {
		progress = min(max(float64(elapsed)/float64(w.Takes), 0), progress)
	}
	j.Progress = &progress
	j.PollAfter = min(max(w.Takes-elapsed, 100*time.Millisecond), time.Second)
	return &j
}

// finish makes the result; sent is the verdict of a failure.
func (w work) finish(sent supplier.Sent) (*supplier.Result, error) {
	p := services[w.Capability].newProduct()
	err := json.Unmarshal(w.Product, p)
	var result *supplier.Result
	if err == nil {
		result, err = p.make()
	}
	if err != nil {
		return nil, supplier.NewError(sent, fault.Internal, messages[fault.Internal], err)
	}
	result = w.shape(result)
	if w.Stuck == stuckTransferring {
		for i := range result.Files {
			result.Files[i].Data, result.Files[i].Open = nil, stall
		}
	}
	return result, nil
}

// stall opens a file that never arrives: reading it ends with the context of the transfer.
func stall(ctx context.Context) (io.ReadCloser, error) {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	return r, nil
}
