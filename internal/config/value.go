package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time, written like "90s", "1h30m" or "7d".
type Duration time.Duration

const day = 24 * time.Hour

// UnmarshalText reads a Duration of zero or more.
func (d *Duration) UnmarshalText(text []byte) error {
	wrong := errors.New(`must be a duration such as "90s", "1h30m" or "7d"`)
	if count, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.ParseUint(count, 10, 16)
		*d = Duration(time.Duration(n) * day)
		if err != nil {
			return wrong
		}
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return wrong
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (d Duration) MarshalText() ([]byte, error) {
	whole := time.Duration(d)
	if whole >= day && whole%day == 0 && whole/day <= math.MaxUint16 {
		return fmt.Appendf(nil, "%dd", whole/day), nil
	}
	s := whole.String()
	if short, ok := strings.CutSuffix(s, "m0s"); ok {
		s = short + "m"
	}
	if short, ok := strings.CutSuffix(s, "h0m"); ok {
		s = short + "h"
	}
	return []byte(s), nil
}

// Size is a number of bytes, written like "16MiB", "512KiB" or "1000".
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// UnmarshalText reads a Size of zero or more.
func (s *Size) UnmarshalText(text []byte) error {
	for _, unit := range sizeUnits {
		count, ok := strings.CutSuffix(string(text), unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 63)
		if err != nil || int64(n) > math.MaxInt64/unit.bytes {
			break
		}
		*s = Size(int64(n) * unit.bytes)
		return nil
	}
	return errors.New(`must be a number of bytes such as "16MiB", "512KiB" or 1000`)
}

// MarshalText is the inverse of UnmarshalText.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range sizeUnits {
		if int64(s)%unit.bytes == 0 && (int64(s) != 0 || unit.bytes == 1) {
			return []byte(strconv.FormatInt(int64(s)/unit.bytes, 10) + unit.suffix), nil
		}
	}
	return nil, errors.New("config: no unit fits")
}

// Transport is the way in which requests are sent to a supplier.
type Transport string

// The choices.
const (
	DirectTransport   Transport = "direct"
	StandardTransport Transport = "standard"
)

// UnmarshalText reads one of the choices.
func (t *Transport) UnmarshalText(text []byte) error {
	if *t = Transport(text); *t != DirectTransport && *t != StandardTransport {
		return errors.New("must be direct or standard")
	}
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (t Transport) MarshalText() ([]byte, error) { return []byte(t), nil }
