package catalog

import (
	"math"
	"strconv"
	"strings"
)

// maxInteger is 2^53−1: up to it, each integer has a double of its own.
const (
	maxInteger       = 1<<53 - 1
	maxIntegerDigits = "9007199254740991"
)

// numberProblem returns the reason why a valid JSON number can't be a double without being mistaken
// for a different one; "" if it can.
func numberProblem(literal string) string {
	f, err := strconv.ParseFloat(literal, 64)
	switch magnitude := math.Abs(f); {
	case err != nil, magnitude > maxInteger, magnitude == maxInteger && digits(literal) > maxIntegerDigits:
		return "must be a number between -9007199254740991 and 9007199254740991"
	case magnitude == 0 && digits(literal) != "":
		return "is a number too close to zero to be told from it"
	}
	return ""
}

// digits returns the literal's significant digits, without sign, point, exponent and outer zeros.
func digits(literal string) string {
	mantissa := strings.TrimPrefix(literal, "-")
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		mantissa = mantissa[:i]
	}
	mantissa = strings.Replace(mantissa, ".", "", 1)
	return strings.Trim(mantissa, "0")
}
