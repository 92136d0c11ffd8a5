package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"unitask/internal/secret"
)

// decoder sets a Config from a YAML tree and records the place of each setting. It knows the few types a Config is
// made of and refuses everything else a file could hold.
type decoder struct {
	*report
	file string
}

// decodeFile reads a YAML file into c.
func (r *report) decodeFile(name string, text []byte, c *Config) {
	r.places[""] = Place{Source: name}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		r.syntax(name, err)
		return
	}
	d := &decoder{r, name}
	var bodies []ast.Node
	for _, doc := range tree.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0: // an empty file has no settings
	case 1:
		d.value("", bodies[0], reflect.ValueOf(c).Elem())
	default:
		r.add("", "holds more than one YAML document", "")
	}
}

func (r *report) syntax(name string, err error) {
	e := Error{Place: Place{Source: name}, Message: "is no YAML: " + err.Error()}
	if y, ok := errors.AsType[yaml.Error](err); ok {
		e.Message = "is no YAML: " + y.GetMessage()
		if token := y.GetToken(); token != nil && token.Position != nil {
			e.Place.Line, e.Place.Column = token.Position.Line, token.Position.Column
		}
	}
	r.errors = append(r.errors, e)
}

// value sets v, whose path is given, from a node.
func (d *decoder) value(path string, n ast.Node, v reflect.Value) {
	d.note(path, n)
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.add(path, "uses a YAML anchor, alias or tag", "write the value itself")
		return
	case *ast.NullNode:
		d.add(path, "has no value", "leave the line out to keep the default")
		return
	}
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.scalar(path, n, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(path, n, v.Elem())
	case reflect.Struct:
		d.structure(path, n, v)
	case reflect.Map:
		d.mapping(path, n, v)
	case reflect.Slice:
		d.sequence(path, n, v)
	default:
		d.scalar(path, n, v)
	}
}

func (d *decoder) structure(path string, n ast.Node, v reflect.Value) {
	setDefaults(v)
	fields := map[string]reflect.Value{}
	var names []string
	for i := range v.NumField() {
		name := settingName(v.Type().Field(i))
		fields[name], names = v.Field(i), append(names, name)
	}
	d.members(path, n, func(name string, key, value ast.Node) {
		field, ok := fields[name]
		if !ok {
			d.note(join(path, name), key)
			d.add(join(path, name), "is no setting", oneOf(name, names))
			return
		}
		d.value(join(path, name), value, field)
	})
}

func (d *decoder) mapping(path string, n ast.Node, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	d.members(path, n, func(name string, _, value ast.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(join(path, name), value, element)
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
	})
}

func (d *decoder) sequence(path string, n ast.Node, v reflect.Value) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.add(path, "must be a list", "write - before each entry, or [a, b]")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
	for i, element := range list.Values {
		d.value(path+"["+strconv.Itoa(i)+"]", element, v.Index(i))
	}
}

// members calls f for each member of a mapping.
func (d *decoder) members(path string, n ast.Node, f func(name string, key, value ast.Node)) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		d.add(path, "must hold members", "write name: value")
		return
	}
	for _, pair := range pairs {
		if pair.Key.IsMergeKey() {
			d.note(path, pair.Key)
			d.add(path, "uses a YAML merge key", "write the members themselves")
			continue
		}
		f(pair.Key.GetToken().Value, pair.Key, pair.Value)
	}
}

func (d *decoder) scalar(path string, n ast.Node, v reflect.Value) {
	var text string
	switch s := n.(type) {
	case *ast.StringNode:
		text = s.Value
	case *ast.LiteralNode:
		text = s.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = n.GetToken().Value
		if _, takesText := v.Addr().Interface().(encoding.TextUnmarshaler); !takesText && v.Kind() == reflect.String {
			d.add(path, "must be text", `put it into quotes: "`+text+`"`)
			return
		}
	default:
		d.add(path, "must be a single value", "")
		return
	}
	if _, quoted := n.(*ast.StringNode); quoted && (v.Kind() == reflect.Int || v.Kind() == reflect.Bool) {
		if _, takesText := v.Addr().Interface().(encoding.TextUnmarshaler); !takesText {
			d.add(path, "must be "+kindName(v.Kind()), "")
			return
		}
	}
	err := setText(v, text)
	if e, ok := errors.AsType[*secret.Error](err); ok {
		d.add(path, "names no secret: "+e.Message, e.Hint)
	} else if err != nil {
		d.add(path, err.Error(), "")
	}
}

func (d *decoder) note(path string, n ast.Node) {
	if token := n.GetToken(); token != nil && token.Position != nil {
		if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
			token = m.Values[0].Key.GetToken() // a block mapping's own token is its first colon
		}
		if m, ok := n.(*ast.MappingValueNode); ok {
			token = m.Key.GetToken()
		}
		d.places[path] = Place{Source: d.file, Line: token.Position.Line, Column: token.Position.Column}
	}
}

// setText sets a scalar from its text, as files, variables and flags write it.
func setText(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return errors.New("must be " + kindName(reflect.Int))
		}
		v.SetInt(int64(n))
	case reflect.Bool:
		if text != "true" && text != "false" {
			return errors.New("must be " + kindName(reflect.Bool))
		}
		v.SetBool(text == "true")
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 0, 1)
		for one := range strings.SplitSeq(text, ",") {
			list = reflect.Append(list, reflect.ValueOf(strings.TrimSpace(one)))
		}
		v.Set(list)
	default:
		return fmt.Errorf("is of kind %s, which has no text", v.Kind())
	}
	return nil
}

func kindName(k reflect.Kind) string {
	if k == reflect.Bool {
		return "true or false"
	}
	return "a whole number from 0 up"
}

// setDefaults sets the defaults of a struct's tags; they are tested to be well-formed.
func setDefaults(v reflect.Value) {
	for i := range v.NumField() {
		if text, ok := v.Type().Field(i).Tag.Lookup("default"); ok && v.Field(i).IsZero() {
			if err := setText(v.Field(i), text); err != nil {
				panic("config: the default of " + v.Type().Field(i).Name + " " + err.Error())
			}
		}
		_, scalar := v.Field(i).Addr().Interface().(encoding.TextUnmarshaler)
		if !scalar && v.Field(i).Kind() == reflect.Struct {
			setDefaults(v.Field(i))
		}
	}
}

// settingName returns the name of a struct's field in the file.
func settingName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
