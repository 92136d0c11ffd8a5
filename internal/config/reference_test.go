package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"unitask/internal/secret"
)

// Reference returns the table of every setting in Markdown, made from the types themselves.
func Reference() string {
	var b strings.Builder
	b.WriteString("| setting | type | default | variable | what it is |\n|---|---|---|---|---|\n")
	describe(&b, "", reflect.TypeFor[Config]())
	return b.String()
}

func describe(b *strings.Builder, prefix string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := join(prefix, settingName(f))
		if f.Tag.Get("doc") != "" {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", name, typeName(f.Type),
				code(f.Tag.Get("default")), code(f.Tag.Get("env")), f.Tag.Get("doc"))
		}
		inner, path := f.Type, name
		switch inner.Kind() {
		case reflect.Map:
			inner, path = inner.Elem(), path+".<capability>"
		case reflect.Slice:
			inner, path = inner.Elem(), path+"[]"
		default:
		}
		if inner.Kind() == reflect.Slice {
			inner, path = inner.Elem(), path+"[]"
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[secret.Ref]() {
			describe(b, path, inner)
		}
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Duration]():
		return "duration"
	case t == reflect.TypeFor[Size]():
		return "size"
	case t == reflect.TypeFor[Amount]():
		return "USD"
	case t == reflect.TypeFor[secret.Ref]():
		return "reference"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "text"
	}
	switch t.Kind() {
	case reflect.Map:
		return "map of " + typeName(t.Elem())
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Struct:
		return strings.ToLower(t.Name())
	case reflect.Int:
		return "number"
	case reflect.Bool:
		return "true or false"
	default:
		return "text"
	}
}
