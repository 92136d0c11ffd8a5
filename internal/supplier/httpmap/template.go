package httpmap

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// The values that stand in a template.
const (
	theModel = "{model}" // the model's name at the supplier
	theJob   = "{job}"   // a job's id
	theKey   = "{key}"   // the submit key
)

// template is a path below the base URL, or a header's value, with places for values.
type template string

var placeForm = regexp.MustCompile(`\{[^{}]*\}`)

var errPath = errors.New("must be a path such as /v1/jobs, without .. and #")

// newTemplate checks a path, in which the places may stand.
func newTemplate(path string, places ...string) (template, error) {
	if err := checkPlaces(path, places); err != nil {
		return "", err
	}
	plain := placeForm.ReplaceAllString(path, "x")
	u, err := url.Parse(plain)
	if err != nil || !strings.HasPrefix(plain, "/") || strings.HasPrefix(plain, "//") || u.Fragment != "" || strings.HasSuffix(plain, "#") ||
		slices.Contains(strings.Split(u.Path, "/"), "..") || strings.ContainsAny(plain, " \t\r\n") {
		return "", errPath
	}
	return template(path), nil
}

// checkPlaces refuses places that aren't among those listed.
func checkPlaces(text string, places []string) error {
	for _, found := range placeForm.FindAllString(text, -1) {
		if !slices.Contains(places, found) {
			return errors.New("has the place " + found + ", for which there is no value")
		}
	}
	return nil
}

// path returns the template as a path: values are escaped, a model's name except for its slashes.
func (t template) path(model, job string) string {
	return strings.NewReplacer(theModel, (&url.URL{Path: model}).EscapedPath(), theJob, url.PathEscape(job)).Replace(string(t))
}
