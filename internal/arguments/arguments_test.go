package arguments

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/hint"
	"unitask/internal/snippet"
	"unitask/internal/task"
)

func mustEntry(t testing.TB, name catalog.Name) api.Capability {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	c, ok := directory.Get(name)
	if !ok {
		t.Fatalf("no capability %s", name)
	}
	return api.FromCapability(c, task.Price{})
}

func TestFit(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	prompt := file("prompt.txt", "from a file\r\n")
	messages := file("messages.json", `[{"role":"user","content":"hi"}]`)
	tools := file("tools.json", `[{"name":"a"},{"name":"b"}]`)
	picture := file("a.png", "\x89PNG\r\n\x1a\n")
	pdf, notes := file("a.pdf", "%PDF-1.7"), file("notes.md", "# Notes")
	tests := []struct {
		name       string
		capability catalog.Name
		words      []string
		stdin      string
		input      string
		parameters string // "" without one
	}{
		{"a prompt", "text.chat", []string{"hello"}, "", `{"prompt":"hello"}`, ""},
		{"a prompt with an equals sign", "text.chat", []string{"what is 1=1?"}, "", `{"prompt":"what is 1=1?"}`, ""},
		{"by name", "text.chat", []string{"prompt=a=b", "system=be brief"}, "", `{"prompt":"a=b","system":"be brief"}`, ""},
		{"numbers as written", "text.chat", []string{"x", "max_output_tokens=50", "temperature=0.70"}, "", `{"prompt":"x"}`, `{"max_output_tokens":50,"temperature":0.70}`},
		{"a list", "text.chat", []string{"x", "stop=a", "stop=b"}, "", `{"prompt":"x"}`, `{"stop":["a","b"]}`},
		{"a list of prompts", "text.embed", []string{"a", "b", "texts=c"}, "", `{"texts":["a","b","c"]}`, ""},
		{"a list of texts as JSON", "text.rerank", []string{"fox", `documents=["a fox","a boat"]`, "documents=[x", "documents=[1]"}, "", `{"query":"fox","documents":["a fox","a boat","[x","[1]"]}`, ""},
		{"a prompt's list as JSON", "text.embed", []string{`["a","b"]`, "c"}, "", `{"texts":["a","b","c"]}`, ""},
		{"a list as the one text", "text.embed", []string{`texts:=["[]"]`}, "", `{"texts":["[]"]}`, ""},
		{"stdin after the prompt", "text.chat", []string{"Explain", "-"}, "it", `{"prompt":"Explain\n\nit"}`, ""},
		{
			"a picture before the prompt", "text.chat",
			[]string{"@" + picture, "Explain"},
			"",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"Explain"},{"type":"image","image":{"data":"iVBORw0KGgo=","content_type":"image/png"}}]}]}`, "",
		},
		{"a picture alone", "text.chat", []string{"@" + picture}, "", `{"messages":[{"role":"user","content":[{"type":"image","image":{"data":"iVBORw0KGgo=","content_type":"image/png"}}]}]}`, ""},
		{"a text", "audio.speech", []string{"hello", "speed=1.5"}, "", `{"text":"hello"}`, `{"speed":1.5}`},
		{"a boolean", "video.generate", []string{"waves", "audio=yes"}, "", `{"prompt":"waves"}`, `{"audio":true}`},
		{"JSON", "text.chat", []string{`messages:=[{"role":"user","content":"hi"}]`}, "", `{"messages":[{"role":"user","content":"hi"}]}`, ""},
		{"JSON from a file", "text.chat", []string{"messages:=@" + messages}, "", `{"messages":[{"role":"user","content":"hi"}]}`, ""},
		{"tools", "text.chat", []string{"x", "tools=@" + tools, `tools={"name":"c"}`, "tool_choice=a"}, "", `{"prompt":"x"}`, `{"tool_choice":"a","tools":[{"name":"a"},{"name":"b"},{"name":"c"}]}`},
		{"a conversation by name", "text.chat", []string{"messages=@" + messages}, "", `{"messages":[{"role":"user","content":"hi"}]}`, ""},
		{"a text file", "text.chat", []string{"@" + prompt}, "", `{"prompt":"from a file"}`, ""},
		{"stdin", "text.chat", []string{"-", "system=s"}, "from stdin\n\n", `{"prompt":"from stdin\n","system":"s"}`, ""},
		{"an @ of its own", "text.chat", []string{"@@me"}, "", `{"prompt":"@me"}`, ""},
		{"magic inputs", "text.chat", []string{"@fail:INTERNAL now"}, "", `{"prompt":"@fail:INTERNAL now"}`, ""},
		{"a magic word", "text.chat", []string{"@unknown"}, "", `{"prompt":"@unknown"}`, ""},
		{
			"media of each kind", "image.edit",
			[]string{"x", "images=@" + picture, "images=https://a.example/b.png", "images=art_1", "mask=-", "authorization.person=none"},
			"\x89PNG\r\n\x1a\n",
			`{"prompt":"x","images":[{"data":"iVBORw0KGgo=","content_type":"image/png"},{"url":"https://a.example/b.png"},{"artifact":"art_1"}],` +
				`"mask":{"data":"iVBORw0KGgo=","content_type":"image/png"},"authorization":{"person":"none"}}`, "",
		},
		{
			"files beside a prompt", "text.chat",
			[]string{"What is this?", "@" + picture, "@" + pdf, "@" + notes, "@" + prompt, "system=s"},
			"",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},` +
				`{"type":"image","image":{"data":"iVBORw0KGgo=","content_type":"image/png"}},{"type":"document","document":{"data":"JVBERi0xLjc=","content_type":"application/pdf"}},` +
				`{"type":"document","document":{"data":"IyBOb3Rlcw==","content_type":"text/markdown"}},` +
				`{"type":"document","document":{"data":"ZnJvbSBhIGZpbGUNCg==","content_type":"text/plain"}}]}],"system":"s"}`, "",
		},
		{"a recording in the prompt's place", "audio.transcribe", []string{"https://a.example/b.wav"}, "", `{"audio":{"url":"https://a.example/b.wav"}}`, ""},
		{"an alternative to the prompt", "video.generate", []string{"image=art_1", "authorization.person=none"}, "", `{"image":{"artifact":"art_1"},"authorization":{"person":"none"}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Fit(mustEntry(t, tt.capability), tt.words, &Reader{Stdin: strings.NewReader(tt.stdin)})
			if err != nil {
				t.Fatal(err)
			}
			want := api.CreateRequest{Capability: string(tt.capability), Input: compact(t, tt.input)}
			if tt.parameters != "" {
				want.Parameters = json.RawMessage(tt.parameters)
			}
			got.Input = compact(t, string(got.Input))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFitPipe: stdin that no word names.
func TestFitPipe(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(notes, []byte("# Notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	const png, medium = "\x89PNG\r\n\x1a\n", `{"data":"iVBORw0KGgo=","content_type":"image/png"}`
	tests := []struct {
		name       string
		capability catalog.Name
		words      []string
		stdin      string
		want       string // the input, or the beginning of an error
		left       bool   // stdin is not read
	}{
		{"a text after the prompt", "text.chat", []string{"Explain"}, "\xef\xbb\xbfa\n\nb\r\n", `{"prompt":"Explain\n\na\n\nb"}`, false},
		{"an SVG is a text", "text.chat", []string{"Explain"}, `<svg xmlns="http://www.w3.org/2000/svg"/>`, `{"prompt":"Explain\n\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>"}`, false},
		{"the prompt", "text.chat", []string{"system=s"}, "hi\n", `{"prompt":"hi","system":"s"}`, false},
		{"a picture beside the prompt", "text.chat", []string{"Explain"}, png, `{"messages":[{"role":"user","content":[{"type":"text","text":"Explain"},{"type":"image","image":` + medium + `}]}]}`, false},
		{
			"a prompt, a file and stdin", "text.chat",
			[]string{"Explain", "@" + notes},
			"more",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"Explain\n\nmore"},{"type":"document","document":{"data":"IyBOb3Rlcw==","content_type":"text/markdown"}}]}]}`, false,
		},
		{"a PDF, though it is written in letters", "text.chat", []string{"Explain"}, "%PDF-1.7", `{"messages":[{"role":"user","content":[{"type":"text","text":"Explain"},` +
			`{"type":"document","document":{"data":"JVBERi0xLjc=","content_type":"application/pdf"}}]}]}`, false},
		{"a file and a picture", "text.chat", []string{"Explain", "@" + notes}, png, `{"messages":[{"role":"user","content":[{"type":"text","text":"Explain"},` +
			`{"type":"document","document":{"data":"IyBOb3Rlcw==","content_type":"text/markdown"}},{"type":"image","image":` + medium + `}]}]}`, false},
		{"no input", "text.chat", []string{"hello"}, "", `{"prompt":"hello"}`, false},
		{"a recording", "audio.transcribe", nil, png, `{"audio":` + medium + `}`, false},
		{"texts", "text.embed", nil, "a b\n", `{"texts":["a b"]}`, false},
		{"the picture that is lacking", "image.edit", []string{"x", "authorization.person=none"}, png, `{"authorization":{"person":"none"},"images":[` + medium + `],"prompt":"x"}`, false},
		{"enough is given", "image.generate", []string{"a fox"}, "x", `{"prompt":"a fox"}`, true},
		{"messages are given", "text.chat", []string{`messages:=[]`}, "x", `{"messages":[]}`, true},
		{"named by a word", "text.chat", []string{"-"}, "x", `{"prompt":"x"}`, false},
		{"an archive", "text.chat", []string{"Explain"}, "PK\x03\x04\x00\x00", "stdin is application/zip, and text.chat takes beside a prompt: text, image, audio, document", false},
		{"neither given nor piped", "text.chat", nil, "", "text.chat needs prompt or messages", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdin := strings.NewReader(tt.stdin)
			got, err := Fit(mustEntry(t, tt.capability), tt.words, &Reader{Stdin: stdin, Piped: true})
			switch {
			case err != nil && strings.HasPrefix(err.Error(), tt.want):
			case err != nil:
				t.Fatal(err)
			case string(compact(t, tt.want)) != string(compact(t, string(got.Input))):
				t.Errorf("input %s, want %s", got.Input, tt.want)
			}
			if left := stdin.Len() == len(tt.stdin) && tt.stdin != ""; left != tt.left {
				t.Errorf("stdin left alone: %t", left)
			}
		})
	}
}

// TestFitPipeOfAKey: stdin whose key was read is no input.
func TestFitPipeOfAKey(t *testing.T) {
	got, err := Fit(mustEntry(t, "text.chat"), []string{"x"}, &Reader{Stdin: strings.NewReader("rest"), StdinUsed: true, Piped: true})
	if err != nil || string(got.Input) != `{"prompt":"x"}` {
		t.Errorf("input %s, %v", got.Input, err)
	}
}

func TestWithFormat(t *testing.T) {
	for _, tt := range []struct {
		capability catalog.Name
		word, file string
		want       string
	}{
		{"image.generate", "x", "fox.JPG", "format=jpeg"},
		{"image.generate", "x", "fox.webp", "format=webp"},
		{"image.generate", "format=png", "fox.webp", ""},
		{"image.generate", "x", "fox.Xq81bgTz", ""},
		{"image.generate", "x", "fox.*", ""},
		{"image.generate", "x", "folder.png/", ""},
		{"image.generate", "x", "-", ""},
		{"audio.transcribe", "@talk.mp3", "talk.srt", "format=srt"},
		{"audio.transcribe", "@talk.mp3", "talk.txt", "format=text"},
		{"audio.speech", "x", "a.b.mp3", "format=mp3"},
		{"text.chat", "x", "a.png", ""},
	} {
		words := []string{tt.word}
		if tt.want != "" {
			words = append(words, tt.want)
		}
		got, err := WithFormat(mustEntry(t, tt.capability), []string{tt.word}, tt.file)
		if diff := cmp.Diff(words, got); diff != "" || err != nil {
			t.Errorf("%s -o %s: %v (-want +got):\n%s", tt.capability, tt.file, err, diff)
		}
	}
}

// TestWithFormatOfAnother refuses a file of a format that the capability can't make.
func TestWithFormatOfAnother(t *testing.T) {
	for _, tt := range []struct {
		capability       catalog.Name
		word, file, want string
	}{
		{"image.generate", "x", "fox.GIF", "image.generate makes no .GIF; -o takes a file that ends in .png, .jpg or .webp"},
		{"image.edit", "format=png", "fox.svg", "image.edit makes no .svg; -o takes a file that ends in .png, .jpg or .webp"},
		{"image.generate", "x", "fox.txt", "image.generate makes no .txt; -o takes a file that ends in .png, .jpg or .webp"},
		{"audio.transcribe", "@talk.mp3", "talk.mp3", "audio.transcribe makes no .mp3; -o takes a file that ends in .txt, .srt or .vtt"},
	} {
		_, err := WithFormat(mustEntry(t, tt.capability), []string{tt.word}, tt.file)
		if wrong, ok := errors.AsType[*hint.UsageError](err); !ok || wrong.Message != tt.want {
			t.Errorf("%s -o %s: %v, want %s", tt.capability, tt.file, err, tt.want)
		}
	}
}

// compact sorts the members.
func compact(t *testing.T, text string) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestFitRefuses(t *testing.T) {
	dir := t.TempDir()
	zip, notes := filepath.Join(dir, "a.zip"), filepath.Join(dir, "notes.md")
	for name, content := range map[string]string{zip: "PK\x03\x04\x00\x00", notes: "# Notes"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name       string
		capability catalog.Name
		words      []string
		want       string
	}{
		{"an unknown name", "text.chat", []string{"x", "temprature=1"}, `text.chat has no "temprature": did you mean temperature?`},
		{"an unknown member", "image.edit", []string{"x", "authorization.persona=none"}, `image.edit authorization has no "persona": did you mean person?`},
		{"a member of a text", "text.chat", []string{"prompt.x=1"}, "prompt has no members"},
		{"no whole number", "text.chat", []string{"x", "max_output_tokens=1.5"}, `max_output_tokens: must be a whole number, not "1.5"`},
		{"no number", "text.chat", []string{"x", "temperature=hot"}, `temperature: must be a number, not "hot"`},
		{"not a number", "text.chat", []string{"x", "temperature=NaN"}, `temperature: must be a number, not "NaN"`},
		{"a hexadecimal number", "text.chat", []string{"x", "seed=0x10"}, `seed: must be a number, not "0x10"`},
		{"out of bounds", "text.chat", []string{"x", "temperature=3"}, `temperature: must be 0 to 2, not "3"`},
		{"no boolean", "video.generate", []string{"x", "audio=loud"}, `audio: "loud" is neither true nor false`},
		{"an object as a word", "image.edit", []string{"x", "authorization=none"}, "authorization: an object"},
		{"a list of objects as a word", "text.chat", []string{"x", "tools=weather"}, "tools: a list of objects: write it as JSON or @FILE"},
		{"media as a word", "image.edit", []string{"x", "images=a.png"}, `images: "a.png" is no media`},
		{"no file", "text.chat", []string{"@absent.txt"}, "prompt: absent.txt: no such file"},
		{"no text", "text.chat", []string{"\xff\xfe x"}, "prompt: this is no UTF-8 text"},
		{"broken JSON", "text.chat", []string{"messages:=[}"}, "messages: this is no JSON"},
		{"stdin twice", "text.chat", []string{"-", "system=-"}, "system: stdin is read already"},
		{"a file of no kind", "text.chat", []string{"x", "@" + zip}, zip + " is nothing that text.chat takes beside a prompt: it takes image, audio, document"},
		{"a second file that isn't there", "text.chat", []string{"x", "@absent.png"}, "absent.png: no such file"},
		{"files and messages", "text.chat", []string{"x", "@" + notes, "messages:=[]"}, "files go along with a prompt, not with messages"},
		{"a second prompt", "text.chat", []string{"x", "y"}, "there is more than one prompt"},
		{"a file where none goes along", "image.generate", []string{"x", "@" + notes}, "there is more than one prompt; quote"},
		{"a file without its name", "image.edit", []string{"x", "@" + notes}, "there is more than one prompt; a file is written images=@"},
		{"stdin without a field", "image.generate", []string{"x", "-"}, "there is no field left for stdin"},
		{"an @ without a file", "text.chat", []string{"@alice said hi"}, "prompt: alice said hi: no such file or directory; @@ begins a text with an @"},
		{"a text with an equals sign", "text.chat", []string{"q=3, how much is q?"}, `text.chat has no "q"; it has prompt, messages, `},
		{"what is missing", "image.edit", []string{"x"}, "image.edit needs images"},
		{"either of two", "text.chat", []string{"system=x"}, "text.chat needs prompt or messages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Fit(mustEntry(t, tt.capability), tt.words, &Reader{Stdin: strings.NewReader("x")})
			if _, ok := errors.AsType[*hint.UsageError](err); !ok || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want a usage error: %s …", err, tt.want)
			}
		})
	}
}

// TestExamples runs every capability's example through its own command line.
func TestExamples(t *testing.T) {
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range directory.All() {
		c := mustEntry(t, entry.Name)
		fields, err := catalog.FieldsOf(c.InputSchema, c.ParametersSchema)
		if err != nil {
			t.Fatal(err)
		}
		var example api.CreateRequest
		if err := json.Unmarshal(c.Example, &example); err != nil {
			t.Fatal(err)
		}
		command, err := snippet.Command(fields, example)
		if err != nil || !strings.HasPrefix(command, "unitask run "+string(c.Name)+" ") || strings.Contains(command, ":=") {
			t.Errorf("%s: %q, %v", c.Name, command, err)
		}
	}
}

func TestParseArgument(t *testing.T) {
	for word, want := range map[string]Argument{
		"hello":        {Value: "hello"},
		"":             {},
		"a=b":          {Name: "a", Value: "b"},
		"a:=1":         {Name: "a", Raw: true, Value: "1"},
		"a.b_2=c=d":    {Name: "a.b_2", Value: "c=d"},
		"a=":           {Name: "a"},
		"=b":           {Value: "=b"},
		"a b=c":        {Value: "a b=c"},
		"a..b=c":       {Value: "a..b=c"},
		"2a=c":         {Value: "2a=c"},
		"https://x?y=": {Value: "https://x?y="},
	} {
		if diff := cmp.Diff(want, Parse(word), cmp.AllowUnexported(Argument{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
}

func FuzzParseArgument(f *testing.F) {
	for _, seed := range []string{"hello", "a=b", "a:=[1]", "a.b=c", ":=", "a::=x", "é=1", "=", "a:=="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		a := Parse(word)
		again := a.Value
		switch {
		case a.Raw:
			again = a.Name + ":=" + a.Value
		case a.Name != "":
			again = a.Name + "=" + a.Value
		}
		if again != word {
			t.Errorf("%q became %+v, which is written %q", word, a, again)
		}
		if a.Name != "" && !ValidName(a.Name) {
			t.Errorf("%q has the name %q", word, a.Name)
		}
	})
}

// FuzzFit checks that whatever is typed becomes a request in JSON or a usage error.
func FuzzFit(f *testing.F) {
	c := mustEntry(f, "text.chat")
	for _, seed := range []string{"hello", "max_output_tokens=1e3", "stop=a", "messages:=[1]", "temperature=.5", "prompt=@@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "@") && !strings.Contains(word, "@@") {
			t.Skip("names a file")
		}
		got, err := Fit(c, []string{"system=s", word}, &Reader{Stdin: strings.NewReader("stdin")})
		if err == nil && (!json.Valid(got.Input) || len(got.Parameters) > 0 && !json.Valid(got.Parameters)) {
			t.Errorf("%q became %s and %s", word, got.Input, got.Parameters)
		}
		if _, usage := errors.AsType[*hint.UsageError](err); err != nil && !usage {
			t.Errorf("%q: %v, want a usage error", word, err)
		}
	})
}
