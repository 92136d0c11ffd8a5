package server

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"unitask/internal/fault"
)

// mostQueryRows bounds the details of one refused query string.
const mostQueryRows = 20

// plain refuses a query string before the handler of a route that has no parameters: a parameter that is
// passed over in silence would leave its sender with another answer than the one asked for.
func plain(h handler) handler {
	return func(x *exchange) error {
		if x.r.URL.RawQuery != "" {
			if _, err := queryOf(x.r.URL.RawQuery); err != nil {
				return err
			}
		}
		return h(x)
	}
}

// queryOf returns the parameters of a query string, each of which is one of known and is given once. A known one that
// ends with a dot stands for all that begin with it.
func queryOf(raw string, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, err, "the query string is malformed")
	}
	var rows []fault.Detail
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.ContainsFunc(known, func(one string) bool {
			return name == one || strings.HasSuffix(one, ".") && strings.HasPrefix(name, one)
		}):
			rows = append(rows, fault.Detail{Field: parameterName(name), Message: "is not a parameter of this request"})
		case len(values[name]) > 1:
			rows = append(rows, fault.Detail{Field: parameterName(name), Message: "must be given once"})
		}
	}
	if len(rows) > 0 {
		rows = rows[:min(len(rows), mostQueryRows)]
		return nil, fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
	}
	return values, nil
}

var plainParameter = regexp.MustCompile(`^[0-9A-Za-z_.\[\]-]{1,64}$`)

// parameterName returns a parameter's name as it is safe to print: quoted and cut unless it is a plain word.
func parameterName(name string) string {
	if plainParameter.MatchString(name) {
		return name
	}
	return strconv.QuoteToASCII(name[:min(len(name), 64)])
}
