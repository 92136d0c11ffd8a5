package unitask_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wordLimits bounds vague words, per 1,000 words: pronouns for things that have a name are hard to read.
var wordLimits = []struct {
	words []string
	most  float64
}{
	{[]string{"what"}, 2},
	{[]string{"where"}, 2},
	{[]string{"nobody", "none", "nothing", "neither"}, 1.5},
}

const (
	pageWidth     = 120 // characters of a line of prose
	fileLines     = 400
	functionLines = 60
)

var word = regexp.MustCompile(`[A-Za-z'’-]+`)

// TestWordsOfComments counts the words of all Go comments.
func TestWordsOfComments(t *testing.T) {
	var text strings.Builder
	for _, file := range goFiles(t) {
		if ast.IsGenerated(file.syntax) { // from texts that have their own readers
			continue
		}
		for _, group := range file.syntax.Comments {
			text.WriteString(group.Text())
		}
	}
	checkWords(t, "the comments", text.String())
}

// TestWordsOfDocs counts the words of the documentation, without its examples, and checks that lines of prose are
// short.
func TestWordsOfDocs(t *testing.T) {
	var text strings.Builder
	for _, page := range pages(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		example := false
		lines := bufio.NewScanner(bytes.NewReader(b))
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			if strings.HasPrefix(line, "```") {
				example = !example
			}
			if example {
				continue
			}
			text.WriteString(line + "\n")
			if width := len([]rune(line)); width > pageWidth && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "<") {
				t.Errorf("%s:%d: %d characters", page, n, width)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	checkWords(t, "the documentation", text.String())
}

func checkWords(t *testing.T, name, text string) {
	t.Helper()
	count := map[string]int{}
	all := word.FindAllString(strings.ToLower(text), -1)
	if len(all) < 10000 {
		t.Fatalf("only %d words in %s", len(all), name)
	}
	for _, w := range all {
		count[strings.TrimSuffix(w, "'s")]++
	}
	for _, limit := range wordLimits {
		n := 0
		for _, w := range limit.words {
			n += count[w]
		}
		if rate := 1000 * float64(n) / float64(len(all)); rate > limit.most {
			t.Errorf("%s: %s %d times in %d words, %.2f per 1,000; the limit is %g", name, strings.Join(limit.words, "/"), n, len(all), rate, limit.most)
		}
	}
}

// TestSizes checks that files, and functions outside of tests, are short.
func TestSizes(t *testing.T) {
	for path, file := range goFiles(t) {
		if file.lines > fileLines {
			t.Errorf("%s has %d lines; the limit is %d", path, file.lines, fileLines)
		}
		for _, d := range file.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(path, "_test.go") {
				continue
			}
			if n := file.set.Position(f.End()).Line - file.set.Position(f.Pos()).Line + 1; n > functionLines {
				t.Errorf("%s: %s has %d lines; the limit is %d", path, f.Name.Name, n, functionLines)
			}
		}
	}
}

// goFile is a parsed file of the module.
type goFile struct {
	set    *token.FileSet
	syntax *ast.File
	lines  int
}

// goFiles parses the module's Go files, by their paths.
func goFiles(t *testing.T) map[string]goFile {
	t.Helper()
	found := map[string]goFile{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skipDir(".", path, entry.Name())
		case filepath.Ext(path) != ".go":
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		found[path] = goFile{set, syntax, bytes.Count(src, []byte("\n"))}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < fewest {
		t.Fatalf("only %d files found", len(found))
	}
	return found
}
