package tui_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/internal/tui"
)

var update = flag.Bool("update", false, "write the golden files anew")

// here is this package's folder, which some views leave.
var here, _ = filepath.Abs(".")

// views leads a new dashboard to each view that is to be looked at.
var views = map[string]func(r *testDashboard, service *fake){
	"directory": func(*testDashboard, *fake) {},
	"empty":     func(r *testDashboard, _ *fake) { r.press("tab") },
	"help":      func(r *testDashboard, _ *fake) { r.press("?") },
	"form":      func(r *testDashboard, _ *fake) { r.press("enter") },
	"form_filled": func(r *testDashboard, _ *fake) {
		r.press("down", "enter", "Make it look like 日本の冬 with snow ❄️ on the roof and a fox in front of the door", "tab", "@a.png", "enter", "@b.png")
		r.press("tab", "right", "tab", "enter", "down", "@mask.png", "tab", "tab", "right")
	},
	"form_problems": func(r *testDashboard, _ *fake) {
		r.press("enter", "tab", "enter", "down", "{", "tab", "9999", "ctrl+s")
	},
	"form_refused": func(r *testDashboard, service *fake) {
		service.failCreate = []error{&client.Error{
			Fault: fault.Invalid("input.prompt", "must not be about that").WithDetails(
				fault.Detail{Field: "parameters.temperature", Message: "must be lower"},
				fault.Detail{Field: "input", Message: "is odd"},
			), RequestID: "req_0123",
		}}
		r.press("enter", "hi", "ctrl+s")
	},
	"tasks":  func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "down", "down") },
	"cancel": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "down", "c") },
	"away": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		service.set(errAway)
		r.press("tab")
		r.pass(6 * time.Second)
	},
	"detail_text":   func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "end", "enter") },
	"detail_scroll": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "end", "enter", "end") },
	"detail_failed": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "down", "down", "enter") },
	"detail_images": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "down", "down", "down", "enter")
	},
	"help_detail": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "down", "down", "down", "enter", "?")
	},
	"filter": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "s", "s", "s", "/", "i", "m", "a", "G")
	},
	"filtered": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "s", "s", "s", "s", "s", "/", "succeeded", "enter")
	},
	"filter_nothing": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "/", "zebra", "enter") },
	"palette":        func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "down", "ctrl+k") },
	"marked": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", " ", " ", "down", "v", "down")
	},
	"marked_cancel": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "a", "/", "succeeded", "enter", "c")
	},
	"marked_save": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "a", "S") },
	"marked_saved": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		service.disk.there["./task_0001.txt"] = true
		r.press("tab", "a", "S", "enter")
	},
	"profiles": func(r *testDashboard, _ *fake) {
		r.profiles.all = []tui.Profile{{Name: "local", BaseURL: address}, {Name: "work", BaseURL: "https://ai.example.com/a/long/way/to/the/service/of/the/whole/house"}}
		r.press("p", "down")
	},
	"beside_picture": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "end", "up")
		r.pass(time.Second)
	},
	"detail_film":      func(r *testDashboard, service *fake) { showFilm(r, service, "film", 1280, 720) },
	"detail_film_card": func(r *testDashboard, service *fake) { showFilm(r, service, "damaged", 720, 1280) },
	"detail_sound": func(r *testDashboard, service *fake) {
		service.hold(openTask(1, "audio.speech"))
		service.change("task_0001", func(t *api.Task) {
			end(t, task.Succeeded)
			t.Output = &api.Output{Audio: &api.Artifact{ID: "art_2", ContentType: "audio/wav", Bytes: 96_044, Duration: new(3.2)}}
		})
		r.pass(11 * time.Second)
		r.press("tab", "enter")
	},
	"talks": func(r *testDashboard, _ *fake) { twoTalks(r); r.press("t", "down") },
	"talk": func(r *testDashboard, _ *fake) {
		one, _ := twoTalks(r)
		r.press("t", "enter", "And now?", "enter")
		r.say(one, "It is night, and the fox sleeps in her den")
		r.press("then", "ctrl+j", "again")
	},
	"talk_left": func(r *testDashboard, _ *fake) { twoTalks(r); r.press("t", "down", "enter", "esc") },
	"talk_failed": func(r *testDashboard, _ *fake) {
		_, two := twoTalks(r)
		two.end = errors.New("the work didn't end in time")
		r.press("t", "down", "enter")
	},
	"palette_typed": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press(":", "imed", "down")
	},
	"palette_nothing": func(r *testDashboard, _ *fake) { r.press("enter", "ctrl+k", "zebra") },
	"save": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		r.press("tab", "end", "enter", "s", "poems/")
	},
	"save_exists": func(r *testDashboard, service *fake) {
		manyTasks(r, service)
		service.disk.there["./poem.txt"] = true
		r.press("tab", "end", "enter", "s", "poem.txt", "enter")
	},
	"again": func(r *testDashboard, service *fake) {
		r.press("enter", "Why is the sky blue?", "tab", "enter", "down", "down", "200", "ctrl+s")
		r.pass(time.Second)
		r.press("e")
	},
	"picker": func(r *testDashboard, _ *fake) {
		manyFiles(r.t)
		r.t.Chdir(r.t.TempDir()) // not in the home folder, which has no random name
		r.press("down", "enter", "x", "tab", "ctrl+o", "~/", "enter", "down", "tab")
	},
	"picker_nothing": func(r *testDashboard, _ *fake) {
		manyFiles(r.t)
		r.t.Chdir(r.t.TempDir())
		r.press("down", "enter", "x", "tab", "ctrl+o", "~/photos", "enter", "zebra")
	},
	"detail_open": func(r *testDashboard, service *fake) { manyTasks(r, service); r.press("tab", "down", "enter") },
}

const poem = `The fox 🦊 went out on a chilly night,
	and prayed for the moon to give him light — 月の光 — for he'd many a mile to go that night before he reached the town-o.

Anunbreakablywordywordthatgoesonandonandonandonandonandonandonandonandonandonandonandon.
`

// manyTasks gives the service a task of each kind and lets the dashboard see them.
func manyTasks(r *testDashboard, service *fake) {
	for i, name := range []string{"text.chat", "image.edit", "video.generate", "image.edit", "text.chat"} {
		service.hold(append(slices.Clone(service.tasks), openTask(i+1, name))...)
		r.pass(time.Second)
	}
	service.change("task_0001", func(t *api.Task) {
		end(t, task.Succeeded)
		t.Output = &api.Output{Text: new(poem + poem + poem), FinishReason: "length"}
		t.Usage = &api.Usage{Work: api.Work{InputTokens: 12, OutputTokens: 345}, Cost: api.Cost{Currency: "USD", Amount: "0.000028"}}
	})
	service.change("task_0002", func(t *api.Task) {
		end(t, task.Succeeded)
		t.Output = &api.Output{Images: []api.Artifact{{
			ID: "art_1", URL: address + "/artifacts/art_0123456789abcdefghijklmnop?exp=1767225600&sig=0123456789abcdefghijklmnopqrstuvwxyz",
			ContentType: "image/png", Bytes: 1_234_567, Width: new(1024), Height: new(768),
			ExpiresAt: api.Timestamp{Time: t.UpdatedAt.AddDate(0, 0, 7)},
		}}}
		t.Usage = &api.Usage{Work: api.Work{Images: 1}, Cost: api.Cost{Currency: "USD", Amount: "0.04"}}
	})
	service.change("task_0003", func(t *api.Task) {
		end(t, task.Failed)
		t.Metadata = task.Metadata{"user": "u-1042", "team": "search"}
		t.Error = &api.Error{
			Code: fault.ProviderTimeout, Message: "the work didn't end in time", Retryable: true,
			Details: []fault.Detail{{Field: "input.prompt", Message: "may be too long"}},
		}
	})
	service.change("task_0004", func(t *api.Task) { t.State, t.Progress = task.Transferring, new(0.85) })
	service.disk.contents["art_1"] = sunset
	r.pass(11 * time.Second)
}

// showFilm opens a task whose result is a film with that content.
func showFilm(r *testDashboard, service *fake, content string, width, height int) {
	service.hold(openTask(1, "video.generate"))
	service.change("task_0001", func(t *api.Task) {
		end(t, task.Succeeded)
		t.Output = &api.Output{Videos: []api.Artifact{{
			ID: "art_3", ContentType: "video/mp4", Bytes: 2_345_678, Width: &width, Height: &height, Duration: new(64.5),
		}}}
	})
	service.disk.contents["art_3"] = []byte(content)
	r.pass(11 * time.Second)
	r.press("tab", "enter")
}

// sunset is a picture: a bright disc in a sky that darkens upwards, above a dark sea.
var sunset = func() []byte {
	const width, height = 160, 120
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			dx, dy := x-width/2, y-70
			c := color.RGBA{uint8(20 + y*2), uint8(y), 60, 255}
			switch {
			case y > 90:
				c = color.RGBA{0, 20, 60, 255}
			case dx*dx+dy*dy < 30*30:
				c = color.RGBA{255, 250, 200, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// sizes are those of the terminals that a view is looked at in: the table has more in wide ones.
func sizes(name string) [][2]int {
	all := [][2]int{{80, 24}, {40, 10}}
	if name == "tasks" {
		all = append(all, [][2]int{{110, 24}, {140, 24}, {240, 24}}...)
	}
	if name == "beside_picture" {
		all = [][2]int{{120, 30}, {160, 40}, {80, 24}, {40, 10}}
	}
	return all
}

func TestGolden(t *testing.T) {
	for name, lead := range views {
		for _, size := range sizes(name) {
			t.Run(fmt.Sprintf("%s_%dx%d", name, size[0], size[1]), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					service := newFake(chat(), imageEdit())
					r := newTestDashboard(t, service)
					r.resize(size[0], size[1])
					lead(r, service)
					golden(t, fmt.Sprintf("%s_%dx%d.txt", name, size[0], size[1]), r.view())
				})
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(here, "testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

// TestGoldensAreViews: no file is left of a view that is gone.
func TestGoldensAreViews(t *testing.T) {
	want := 0
	for name := range views {
		want += len(sizes(name))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	if err != nil || len(files) != want {
		t.Errorf("%d golden files, %v, want %d", len(files), err, want)
	}
}

// TestEverySize: every view fits every terminal, whatever is in it, also after its size changes.
func TestEverySize(t *testing.T) {
	for name, lead := range views {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat(), imageEdit())
				r := newTestDashboard(t, service)
				lead(r, service)
				for _, height := range []int{1, 2, 3, 5, 10, 15, 16, 24, 60} {
					for width := 1; width <= 200; width += 1 + width/6 {
						r.resize(width, height)
						mustFit(t, r, width, height)
					}
				}
			})
		})
	}
}

func mustFit(t *testing.T, r *testDashboard, width, height int) {
	t.Helper()
	lines := strings.Split(r.model.View(), "\n")
	if len(lines) > height {
		t.Fatalf("%d lines in %d×%d:\n%s", len(lines), width, height, r.view())
	}
	for _, l := range lines {
		if tui.Cells(l) > width {
			t.Fatalf("%d columns in %d×%d: %q", tui.Cells(l), width, height, l)
		}
	}
}

// TestHostileService: all texts of the service reach the terminal as plain text.
func TestHostileService(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00\r\nx\u2028"
	hostile := func(service *fake) {
		service.mu.Lock()
		defer service.mu.Unlock()
		for i := range service.capabilities {
			c := &service.capabilities[i]
			c.Title, c.Description, c.Modality = c.Title+evil, c.Description+evil, evil
			c.Price.Unit, c.Price.Input = task.Unit(evil), evil
			for _, schema := range []*json.RawMessage{&c.InputSchema, &c.ParametersSchema} {
				*schema = []byte(strings.NewReplacer(
					`"description":"`, `"description":"\u001b[2J\u0007`, `"size":{`, `"size":{"default":"\u001b]0;x\u0007",`,
					`"enum":["png",`, `"enum":["png\u001b[2J",`, `"level":`, `"level\u001b[2J":`,
				).Replace(string(*schema)))
			}
		}
		for i := range service.tasks {
			t := &service.tasks[i]
			t.Capability, t.Mode, t.RequestID = t.Capability+evil, task.Mode(evil), evil
			t.Metadata = task.Metadata{evil: evil}
			if t.Error != nil {
				t.Error.Code, t.Error.Message = fault.Code(evil), evil
				t.Error.Details = []fault.Detail{{Field: evil, Message: evil}}
			}
			if t.Output != nil && t.Output.Text != nil {
				t.Output.Text, t.Output.FinishReason = new(evil), evil
			}
			if t.Output != nil && t.Output.Images != nil {
				t.Output.Images[0].URL, t.Output.Images[0].ContentType = evil, evil
			}
			if t.Usage != nil {
				t.Usage.Cost, t.Usage.Seconds = api.Cost{Currency: evil, Amount: evil}, evil
			}
		}
	}
	for name, lead := range views {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				service := newFake(chat(), imageEdit())
				hostile(service)
				service.failCreate = []error{&client.Error{Fault: fault.Invalid(evil, evil), RequestID: evil}}
				r := newTestDashboard(t, service)
				lead(r, service)
				hostile(service)
				for id := range service.revision {
					service.change(id, func(*api.Task) {})
				}
				r.pass(15 * time.Second)
				bad := func(c rune) bool { return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) }
				if at := strings.IndexFunc(r.model.View(), bad); at >= 0 {
					t.Errorf("a control character is drawn: %q", r.model.View()[max(0, at-20):])
				}
			})
		})
	}
}
