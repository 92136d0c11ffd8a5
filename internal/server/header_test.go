package server_test

import (
	"net/http"
	"path"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
)

func TestPreferredWait(t *testing.T) {
	wait := func(n time.Duration) *time.Duration { return new(n * time.Second) }
	for _, tt := range []struct {
		values []string
		want   *time.Duration
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"wait=10"}, wait(10)},
		{[]string{"wait=0"}, wait(0)},
		{[]string{"Wait = 60"}, wait(60)},
		{[]string{"wait=61"}, wait(60)},
		{[]string{`wait="7"`}, wait(7)},
		{[]string{"respond-async, wait=3; foo=bar"}, wait(3)},
		{[]string{"return=minimal", "wait=4"}, wait(4)},
		{[]string{"wait=5, wait=9"}, wait(5)},
		{[]string{"wait"}, nil},
		{[]string{"wait="}, nil},
		{[]string{"wait=-1"}, nil},
		{[]string{"wait=1.5"}, nil},
		{[]string{"wait=x"}, nil},
		{[]string{"await=5"}, nil},
		{[]string{"wait=+5"}, nil},
		{[]string{"wait=18446744073709551616"}, wait(60)},
		{[]string{"wait=1\u0665"}, nil},
	} {
		if diff := cmp.Diff(tt.want, server.PreferredWait(http.Header{"Prefer": tt.values})); diff != "" {
			t.Errorf("%q:\n%s", tt.values, diff)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	for value, want := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, `Application/JSON;charset="UTF-8"`: true, "application/json;": true,
		"application/json; charset=utf-16": false, "application/json; version=1": true, "application/problem+json": false, "text/json": false,
		"application/json, text/plain": false, "*/*": false, ";": false,
	} {
		err := server.CheckMediaType(http.Header{"Content-Type": {value}})
		if (err == nil) != want || (err != nil && api.Status(fault.From(err)) != 415) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// FuzzHeaders checks the promises of the headers' decoders for any text.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"wait=10", "respond-async, wait=\"61\"", "12345678", "\u3000语语语语语语语语\u0085", `W/"12-3", "7", *`, "application/json; charset=utf-8"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if wait := server.PreferredWait(http.Header{"Prefer": {text}}); wait != nil && (*wait < 0 || *wait > api.MaxWait) {
			t.Errorf("%q asks for %v", text, *wait)
		}
		key, err := server.IdempotencyKey(http.Header{api.HeaderIdempotencyKey: {text}})
		if n := utf8.RuneCountInString(key); err == nil && (n < api.MinIdempotencyKey || n > api.MaxIdempotencyKey ||
			!utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) || strings.TrimSpace(text) != key) {
			t.Errorf("%q is taken as the key %q", text, key)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", text, err)
		}
		if n := server.KnownRevision(server.ParseIfNoneMatch(http.Header{"If-None-Match": {text}})); n != nil && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("%q names revision %d", text, *n)
		}
		if err := server.CheckMediaType(http.Header{"Content-Type": {text}}); err == nil && !strings.Contains(strings.ToLower(text), "application/json") {
			t.Errorf("%q is taken as JSON", text)
		}
	})
}

// FuzzListQuery: whatever is accepted asks for something the store can answer.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{"", "state=failed&limit=5", "cursor=task_0698s0x3c4gvq2f5m6tz8w1abc", "capability=text.chat;", "limit=1&limit=2", "%zz", "created_after=2026-11-21T08:00:00Z&order=oldest&code=INTERNAL"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := server.ParseListQuery(raw)
		if err == nil && (q.Limit < 1 || q.Limit > api.MaxListLimit || (q.State != "" && !q.State.Valid())) {
			t.Errorf("%q asks for %+v", raw, q)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// FuzzClean: a clean path is one that cleaning leaves alone, but for one slash at its end.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"/", "//", "/a/", "/a//", "/a/../b", "*", "", "/."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if server.Clean(p) && (path.Clean(p) != strings.TrimSuffix(p, "/") && p != "/") {
			t.Errorf("%q counts as clean", p)
		}
	})
}
