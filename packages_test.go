package unitask_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "unitask"

// pkg is a package in one directory.
type pkg struct {
	at         string // the directory, with internal
	name       string
	source     bool // it has more than tests
	documented bool
	comment    string              // the first sentence of its comment, without "Package name"
	imports    map[string][]string // our packages, by the files that import them
	inTests    map[string][]string
}

// walk parses the module below root. Nested modules and testdata are no part of it.
func walk(t *testing.T, root string) map[string]pkg {
	t.Helper()
	found := map[string]pkg{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skipDir(root, file, entry.Name())
		case filepath.Ext(file) == ".go" && filepath.Dir(file) != root:
			return parseInto(found, root, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func skipDir(root, dir, name string) error {
	if dir == root {
		return nil
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	if err == nil || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return filepath.SkipDir
	}
	return nil
}

// rowOf returns the name of a directory in the table of layers: without internal, and with the module for the package
// that other programs import, as internal has one of its name.
func rowOf(at string) string {
	if at == "client" {
		return module + "/" + at
	}
	return strings.TrimPrefix(at, "internal/")
}

func parseInto(found map[string]pkg, root, file string) error {
	src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, filepath.Dir(file))
	if err != nil {
		return err
	}
	at := filepath.ToSlash(rel)
	dir := rowOf(at)
	p, ok := found[dir]
	if !ok {
		p = pkg{at: at, imports: map[string][]string{}, inTests: map[string][]string{}}
	}
	into, isTest := p.imports, strings.HasSuffix(file, "_test.go")
	if isTest {
		into = p.inTests
	} else if !p.source {
		p.source, p.documented, p.comment = true, false, ""
	}
	p.name = strings.TrimSuffix(src.Name.Name, "_test")
	if comment, ok := packageComment(p.name, src); ok && isTest != p.source {
		p.documented, p.comment = true, comment
	}
	for _, spec := range src.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if dep, ours := strings.CutPrefix(full, module+"/"); ours {
			dep = rowOf(dep)
			into[dep] = append(into[dep], filepath.Base(file))
		}
	}
	found[dir] = p
	return nil
}

// packageComment returns the first sentence of a package comment without the words it begins with.
func packageComment(name string, src *ast.File) (string, bool) {
	if src.Doc == nil {
		return "", false
	}
	lead := "Package " + name + " "
	if name == "main" {
		lead = "Command "
	}
	synopsis := new(doc.Package).Synopsis(src.Doc.Text())
	return strings.TrimSuffix(strings.TrimPrefix(synopsis, lead), "."), strings.HasPrefix(synopsis, lead)
}
