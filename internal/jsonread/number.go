package jsonread

// maxDigits is how many digits of a decimal a double keeps, so that both have one shortest form.
const maxDigits = 15

// powers are the powers of ten up to maxDigits, which a double holds exactly.
var powers = [maxDigits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// Number reads a number and returns it unchanged. ok reports whether it is in canonical form with at most 15 digits
// and no exponent; only then value is set.
func (r *Reader) Number() (raw []byte, value float64, ok bool) {
	r.Peek()
	rest := r.in[r.pos:]
	n, fraction := number(rest)
	r.advance(n)
	raw = rest[:n]
	value, ok = canonical(raw, fraction)
	return raw, value, ok
}

// number returns the length of the number at the beginning of b, or 0. fraction is the number of digits after the
// point, or -1 with an exponent.
func number(b []byte) (n, fraction int) {
	if len(b) > 0 && b[0] == '-' {
		n++
	}
	whole := digits(b[n:])
	if whole == 0 || whole > 1 && b[n] == '0' {
		return 0, 0
	}
	n += whole
	if n < len(b) && b[n] == '.' {
		if fraction = digits(b[n+1:]); fraction == 0 {
			return 0, 0
		}
		n += 1 + fraction
	}
	if n == len(b) || b[n] != 'e' && b[n] != 'E' {
		return n, fraction
	}
	n++
	if n < len(b) && (b[n] == '+' || b[n] == '-') {
		n++
	}
	exponent := digits(b[n:])
	if exponent == 0 {
		return 0, 0
	}
	return n + exponent, -1
}

// canonical returns the value of a number as Number does.
func canonical(raw []byte, fraction int) (value float64, ok bool) {
	if len(raw) == 0 || len(raw) > len("-.")+maxDigits || fraction < 0 {
		return 0, false
	}
	var sum uint64
	digits := 0
	for _, c := range raw {
		if c >= '0' {
			sum, digits = sum*10+uint64(c-'0'), digits+1
		}
	}
	if digits > maxDigits {
		return 0, false
	}
	value = float64(sum)
	if fraction > 0 {
		value /= powers[fraction]
		if sum%10 == 0 || value < 1e-6 { // canonical form has no such zero, and an exponent for such a value
			return 0, false
		}
	}
	if raw[0] != '-' {
		return value, true
	}
	return -value, sum != 0
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}
