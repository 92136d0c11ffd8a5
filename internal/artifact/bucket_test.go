package artifact_test

import (
	"net/url"
	"strings"
	"testing"

	"unitask/internal/artifact"
)

func TestParseBucket(t *testing.T) {
	for text, want := range map[string]artifact.Bucket{
		"s3://media":              {Name: "media"},
		"s3://media/":             {Name: "media"},
		"s3://media/a/b/":         {Name: "media", Prefix: "a/b"},
		"s3://media?region=eu-1":  {Name: "media", Region: "eu-1"},
		"s3://m.e-1?path_style=1": {Name: "m.e-1", PathStyle: true},
		"s3://media/x?region=eu-1&endpoint=http://127.0.0.1:9000&path_style=true": {
			Name: "media", Prefix: "x", Region: "eu-1", Endpoint: "http://127.0.0.1:9000", PathStyle: true,
		},
	} {
		if got, err := artifact.ParseBucket(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestParseBucketRefuses: each mistake is named, and no text that could be a secret is repeated.
func TestParseBucketRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "must be s3://bucket/prefix",
		"folder":                               "must be s3://bucket/prefix",
		"https://media":                        "must be s3://bucket/prefix",
		"s3://":                                "names no bucket",
		"s3://Media":                           "names no bucket",
		"s3://me":                              "names no bucket",
		"s3://media:80":                        "names no bucket",
		"s3://AKIA:hunter2@media":              "must hold no key",
		"s3://media?access_key_id=hunter2":     "must hold no key",
		"s3://media?X-Amz-Credential=hunter2":  "must hold no key",
		"s3://media?endpoint=http://hunter2@x": "must hold no key",
		"s3://media?region=hunter2%20":         "has a region",
		"s3://media?endpoint=hunter2:9000":     "has an endpoint",
		"s3://media?endpoint=https://":         "has an endpoint",
		"s3://media?path_style=hunter2":        "has a path_style",
		"s3://media?acl=public":                `unknown parameter "acl"`,
		"s3://media?region=a&region=b":         "twice",
		"s3://media?%zz":                       "can't be read",
		"s3://media/a//b":                      "has a prefix",
		"s3://media/a/../b":                    "has a prefix",
		"s3://media/a b":                       "has a prefix",
		"s3://media#hunter2":                   "after #",
	} {
		_, err := artifact.ParseBucket(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzParseBucket: an accepted bucket's own address is that bucket, and no user or password gets through.
func FuzzParseBucket(f *testing.F) {
	f.Add("s3://media/a/b?region=eu-1&endpoint=http://127.0.0.1:9000&path_style=true")
	f.Add("s3://k:s@media")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := artifact.ParseBucket(text)
		if err != nil {
			return
		}
		again, err := artifact.ParseBucket(b.String())
		if err != nil || again.Name != b.Name || again.Prefix != b.Prefix {
			t.Errorf("%q is %+v, and its address %q is %+v, %v", text, b, b.String(), again, err)
		}
		if u, err := url.Parse(b.Endpoint); err != nil || u.User != nil {
			t.Errorf("%q has the endpoint %q, %v", text, b.Endpoint, err)
		}
	})
}
