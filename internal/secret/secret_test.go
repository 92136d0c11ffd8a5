package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"unitask/internal/secret"
)

const plain = "sk-plain-text"

func TestValueNeverPrints(t *testing.T) {
	type exported struct{ Key secret.Value }
	type hidden struct{ key secret.Value }
	value := secret.New(plain)
	shapes := map[string]any{
		"value": value, "pointer": &value, "slice": []secret.Value{value},
		"map": map[string]secret.Value{"key": value}, "struct": exported{value},
		"unexported field": hidden{value}, "pointer to unexported field": &hidden{value},
		"error": fmt.Errorf("with %v", value),
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "% x", "%10.3s"} {
				mustHide(t, verb, fmt.Sprintf(verb, shape))
			}
			encoded, err := json.Marshal(shape)
			if err != nil {
				t.Fatal(err)
			}
			mustHide(t, "json", string(encoded))
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", shape)
			slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", shape)
			mustHide(t, "slog", log.String())
		})
	}
}

// mustHide looks for the text itself and for its bytes in hexadecimal and decimal.
func mustHide(t *testing.T, how, out string) {
	t.Helper()
	for _, form := range []string{plain, "plain", "706c61696e", "706C61696E", "70 6c", "112 108 97"} {
		if strings.Contains(out, form) {
			t.Errorf("%s shows the secret: %s", how, out)
		}
	}
}

func TestValue(t *testing.T) {
	value := secret.New(plain)
	if got := value.Reveal(); got != plain {
		t.Errorf("Reveal() = %q, want %q", got, plain)
	}
	if got, want := fmt.Sprint(value), "[redacted]"; got != want {
		t.Errorf("printed as %q, want %q", got, want)
	}
	if value.IsZero() || !(secret.Value{}).IsZero() || !secret.New("").IsZero() {
		t.Error("IsZero must hold for the absent secret alone")
	}
	if !value.Equal(secret.New(plain)) || value.Equal(secret.New("other")) || value.Equal(secret.Value{}) {
		t.Error("Equal must hold for the same text alone")
	}
}

func TestErrorKeepsKindAndCause(t *testing.T) {
	_, err := secret.Env("UNITASK_TEST_UNSET").Resolve(t.Context())
	if !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
	if got, want := err.Error(), "environment variable UNITASK_TEST_UNSET is not set"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}
