package artifact

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bucket is a place in an S3-compatible object store. It holds no secret.
type Bucket struct {
	Name      string
	Prefix    string // of every key, without slashes at its ends; "": none
	Region    string // "": as the environment says
	Endpoint  string // "": that of AWS
	PathStyle bool   // the bucket's name is in the path and not in the host
}

// bucketScheme begins the address of a bucket.
const bucketScheme = "s3://"

var (
	bucketName   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	bucketPrefix = regexp.MustCompile(`^[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*$`)
	regionName   = regexp.MustCompile(`^[a-z0-9-]+$`)
)

// ParseBucket reads s3://bucket/prefix?region=…&endpoint=…&path_style=true; all but the bucket is optional. Its errors
// don't repeat the text, which may hold a secret by mistake.
func ParseBucket(text string) (Bucket, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || !strings.HasPrefix(text, bucketScheme):
		return Bucket{}, errors.New("must be s3://bucket/prefix?region=…")
	case u.User != nil:
		return Bucket{}, errNoSecrets
	case u.Fragment != "":
		return Bucket{}, errors.New("must not have a part after #")
	case !bucketName.MatchString(u.Host):
		return Bucket{}, errors.New("names no bucket: 3 to 63 lower-case letters, digits, dots and hyphens after s3://")
	}
	b := Bucket{Name: u.Host, Prefix: strings.Trim(u.Path, "/")}
	if b.Prefix != "" && (!bucketPrefix.MatchString(b.Prefix) || strings.Contains("/"+b.Prefix+"/", "/../")) {
		return Bucket{}, errors.New("has a prefix of other characters than letters, digits and !_.*'()-")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Bucket{}, errors.New("has parameters that can't be read")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) != 1 {
			return Bucket{}, errors.New("has the parameter " + name + " twice")
		}
		if err := b.set(name, query.Get(name)); err != nil {
			return Bucket{}, err
		}
	}
	return b, nil
}

var errNoSecrets = errors.New("must hold no key and no secret: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, " +
	"AWS's shared files and instance roles are read instead")

// set sets a parameter of the address.
func (b *Bucket) set(name, value string) (err error) {
	switch name {
	case "region":
		if b.Region = value; !regionName.MatchString(value) {
			return errors.New("has a region that is none, such as eu-central-1")
		}
	case "endpoint":
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("has an endpoint that is no http or https address")
		}
		if u.User != nil {
			return errNoSecrets
		}
		b.Endpoint = value
	case "path_style":
		if b.PathStyle, err = strconv.ParseBool(value); err != nil {
			return errors.New("has a path_style that is neither true nor false")
		}
	default:
		for _, part := range []string{"key", "secret", "token", "password", "credential"} {
			if strings.Contains(strings.ToLower(name), part) {
				return errNoSecrets
			}
		}
		return fmt.Errorf("has the unknown parameter %q; known: endpoint, path_style, region", name)
	}
	return nil
}

// String returns s3://bucket/prefix, which tells people the place.
func (b Bucket) String() string {
	if b.Prefix == "" {
		return bucketScheme + b.Name
	}
	return bucketScheme + b.Name + "/" + b.Prefix
}
