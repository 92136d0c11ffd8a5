package server

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// mostActionBody bounds the body of an action, in bytes.
const mostActionBody = 1 << 20

// decode reads the body of an action as decodeObject does.
func (a actions) decode(x *exchange, into any) error {
	if x.r.ContentLength == 0 && mayBeAbsent(into) {
		return nil
	}
	if err := checkMediaType(x.r.Header); err != nil {
		return err
	}
	raw, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, mostActionBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge(mostActionBody)
	}
	if err != nil {
		return cutOff(err)
	}
	_ = x.control().SetReadDeadline(time.Time{})
	return decodeObject(raw, into)
}

// mayBeAbsent reports whether an action is also asked for without a body: with the default of each member.
func mayBeAbsent(into any) bool {
	_, ok := into.(*api.WebhookRotate)
	return ok
}

// decodeObject reads one JSON object of known members, each once and of its type. It is as strict as the reading of a
// task's body: UTF-8, names in their own case, and no more after the object. A member of null is an absent one.
func decodeObject(raw []byte, into any) error {
	if jsontext.Value(raw).Kind() != jsontext.KindBeginObject {
		return errNoObject
	}
	err := jsonv2.Unmarshal(raw, into, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	if broken, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		return fault.Invalid(memberName(broken.JSONPointer), "is given twice")
	}
	wrong, ok := errors.AsType[*jsonv2.SemanticError](err)
	switch {
	case !ok || wrong.JSONPointer == "":
		return errNoObject
	case errors.Is(err, jsonv2.ErrUnknownName):
		return fault.Invalid(memberName(wrong.JSONPointer), "is not a known member")
	default:
		return fault.Invalid(memberName(wrong.JSONPointer), "must be "+kindOf(wrong.GoType))
	}
}

var errNoObject = fault.Invalid("body", "must be one JSON object")

// memberName is the place of a member as details name it: "limits.budget".
func memberName(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	return parameterName(strings.Join(names, "."))
}

// kindOf says which values a type takes.
func kindOf(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	default:
		return "another value"
	}
}
