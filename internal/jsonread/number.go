package jsonread

// mostDigits is up to how many digits of a decimal a double keeps, so that both have one shortest form.
const mostDigits = 15

// powers are those of ten that a double holds exactly, as far as they are needed.
var powers = [mostDigits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// Number passes over a number and returns it as it stands, with its value just if it is written in canonical form
// with at most 15 digits and without an exponent. Of others ok is false.
func (r *Reader) Number() (raw []byte, value float64, ok bool) {
	r.Peek()
	rest := r.in[r.at:]
	n, fraction := number(rest)
	r.pass(n)
	raw = rest[:n]
	value, ok = canonical(raw, fraction)
	return raw, value, ok
}

// number returns the length of the number that b begins with; 0: it is none. fraction is how many digits are behind
// the point; -1: it has an exponent.
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

// canonical returns the value of a number that Number knows.
func canonical(raw []byte, fraction int) (value float64, ok bool) {
	if len(raw) == 0 || len(raw) > len("-.")+mostDigits || fraction < 0 {
		return 0, false
	}
	var sum uint64
	digits := 0
	for _, c := range raw {
		if c >= '0' {
			sum, digits = sum*10+uint64(c-'0'), digits+1
		}
	}
	if digits > mostDigits {
		return 0, false
	}
	value = float64(sum)
	if fraction > 0 {
		value /= powers[fraction]
		if sum%10 == 0 || value < 1e-6 { // which canonical form writes without the zero, or with an exponent
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
