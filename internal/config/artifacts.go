package config

import (
	"strings"

	"unitask/internal/artifact"
)

// artifactFolder is the setting for artifacts in the data folder.
const artifactFolder = "file"

func (r *report) checkArtifacts(text string) {
	const example = "for example s3://bucket/prefix?region=eu-central-1"
	if text == artifactFolder {
		return
	}
	if !strings.HasPrefix(text, "s3:") {
		r.add("artifacts", "must be file or an address that begins with s3://", example)
	} else if _, err := artifact.ParseBucket(text); err != nil {
		r.add("artifacts", err.Error(), example)
	}
}

// Bucket returns the place of artifacts in an object store; ok is false if they are in the data folder.
func (c Config) Bucket() (b artifact.Bucket, ok bool) {
	b, err := artifact.ParseBucket(c.Artifacts)
	return b, err == nil // as check saw to
}
