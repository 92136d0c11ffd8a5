package fleet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/supplier/sandbox/media"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// jobsName is how the configuration and the ledger name the supplier of jobs.
const jobsName = "jobs"

// The models of jobs, and what each job of them is charged with.
const (
	pictureModel = "storm/picture"
	editModel    = "storm/edit"
	filmModel    = "storm/film"

	pictureCharge = task.USD / 100
	editCharge    = task.USD / 50
	filmSeconds   = 4
	filmCharge    = filmSeconds * task.USD / 1000
)

// jobMaps says how requests become the models' inputs.
const jobMaps = `models:
  - model: ` + pictureModel + `
    capability: image.generate
    input: {/input/prompt: /prompt, /parameters/n: {only: ['1']}, /parameters/format: {only: [png]}}
    output: {files: /images}
  - model: ` + editModel + `
    capability: image.edit
    input: {/input/prompt: /prompt, /input/images: {to: /image_urls, as: album}, /parameters/n: {only: ['1']}, /parameters/format: {only: [png]}}
    output: {files: /images}
  - model: ` + filmModel + `
    capability: video.generate
    input: {/input/prompt: /prompt, /parameters/duration_seconds: {only: ['4']}, /parameters/aspect_ratio: {only: ['16:9']}, /parameters/resolution: {only: [720p]}}
    output: {files: /videos}
`

// endless begins the word of a job that doesn't end by itself.
const endless = "endless-"

// jobs is a paid supplier of pictures and films in fal's format. Work begins a job, which takes a while. It knows a
// task by its prompt, which is one word, and a result is made for its word alone.
type jobs struct {
	base  string
	watch *watch

	mu       sync.Mutex
	rng      *rand.Rand
	all      map[string]*job // by id
	sent     []invariant.Submission
	mistaken []string // words whose upload was another's
}

type job struct {
	word, model string
	done        time.Time // zero: not by itself
	canceled    bool
}

func newJobs(t *testing.T, rng *rand.Rand, w *watch) *jobs {
	t.Helper()
	s := &jobs{watch: w, rng: rng, all: map[string]*job{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /storm/{model}", s.handleSubmit)
	mux.HandleFunc("GET /storm/{app}/requests/{id}/status", s.handleStatus)
	mux.HandleFunc("GET /storm/{app}/requests/{id}", s.handleResult)
	mux.HandleFunc("PUT /storm/{app}/requests/{id}/cancel", s.handleCancel)
	mux.HandleFunc("GET /files/{id}", s.handleFile)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

func (s *jobs) handleSubmit(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Prompt string
		Images []string `json:"image_urls"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return // cut off: it never arrived
	}
	defer s.watch.enter(jobsName, asked.Prompt, r)()
	model := strings.TrimPrefix(r.URL.Path, "/")
	id, refused, breaks := s.take(asked.Prompt, model, asked.Images)
	switch {
	case refused:
		w.WriteHeader(http.StatusTooManyRequests)
	case breaks:
		panic(http.ErrAbortHandler)
	default:
		say(w, `{"status":"IN_QUEUE","request_id":%q,"status_url":"%s/%s/requests/%s/status"}`, id, s.base, model, id)
	}
}

// take begins a job, unless it refuses; the answer of some breaks off.
func (s *jobs) take(word, model string, images []string) (id string, refused, breaks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := invariant.Submission{Key: word, Supplier: jobsName}
	n := s.rng.IntN(100)
	if n < 4 {
		s.sent = append(s.sent, sub)
		return "", true, false
	}
	for _, address := range images {
		if _, data, _ := strings.Cut(address, ","); data != base64.StdEncoding.EncodeToString(upload(word)) {
			s.mistaken = append(s.mistaken, word)
		}
	}
	sub.Charge = map[string]task.Money{pictureModel: pictureCharge, editModel: editCharge, filmModel: filmCharge}[model]
	s.sent = append(s.sent, sub)
	id = fmt.Sprintf("job-%d", len(s.all))
	j := &job{word: word, model: model}
	if !strings.HasPrefix(word, endless) {
		j.done = time.Now().Add(time.Duration(100+s.rng.IntN(1500)) * time.Millisecond)
	}
	s.all[id] = j
	return id, false, n < 7
}

// find returns a job as it stands now.
func (s *jobs) find(id string) (j job, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] == nil {
		return job{canceled: true}, false
	}
	j = *s.all[id]
	return j, !j.canceled && !j.done.IsZero() && time.Now().After(j.done)
}

func (s *jobs) handleStatus(w http.ResponseWriter, r *http.Request) {
	switch j, ended := s.find(r.PathValue("id")); {
	case j.canceled:
		say(w, `{"status":"CANCELLED"}`)
	case ended:
		say(w, `{"status":"COMPLETED"}`)
	default:
		say(w, `{"status":"IN_PROGRESS"}`)
	}
}

func (s *jobs) handleResult(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	switch j, ended := s.find(id); {
	case !ended:
		w.WriteHeader(http.StatusNotFound)
	case j.model == filmModel:
		say(w, `{"videos":[{"url":"%s/files/%s","content_type":"video/mp4"}]}`, s.base, id)
	default:
		say(w, `{"images":[{"url":"%s/files/%s","content_type":"image/png"}]}`, s.base, id)
	}
}

func (s *jobs) handleCancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.all[r.PathValue("id")]; j != nil && (j.done.IsZero() || time.Now().Before(j.done)) {
		j.canceled = true
		say(w, `{"status":"CANCELLATION_REQUESTED"}`)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
}

func (s *jobs) handleFile(w http.ResponseWriter, r *http.Request) {
	j, _ := s.find(r.PathValue("id"))
	_, _ = w.Write(resultOf(j.word, j.model))
}

// count returns every submission, and the words whose upload was another's.
func (s *jobs) count() ([]invariant.Submission, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent), slices.Clone(s.mistaken)
}

func say(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, format, args...)
}

var (
	blank = sync.OnceValue(func() []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
			panic(err)
		}
		return b.Bytes()
	})
	film = sync.OnceValue(func() []byte {
		return media.Video(media.VideoSpec{Prompt: "Waves", Width: 128, Height: 128, Seconds: filmSeconds})
	})
)

// resultOf is the result of a word's job: a picture with the word behind its end, or a film with it in a box of its own.
func resultOf(word, model string) []byte {
	if model != filmModel {
		return append(bytes.Clone(blank()), word...)
	}
	box := binary.BigEndian.AppendUint32(nil, uint32(8+len(word)))
	return slices.Concat(film(), append(box, "free"+word...))
}

// uploadBytes makes an input so large that it is kept apart from its task.
const uploadBytes = 80 << 10

// upload is the picture that the caller of a word sends.
func upload(word string) []byte {
	return slices.Concat(blank(), []byte(word), bytes.Repeat([]byte{7}, uploadBytes))
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
