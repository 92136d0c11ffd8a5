package jsonwrite

import "time"

// cachedSecond is the last second written. The times of one value mostly share it.
type cachedSecond struct {
	unix int64
	text [32]byte
	size int // of the text; 0 before the first
}

// Time appends a time in RFC 3339, to the nanosecond and without zeros at the end.
func (w *Writer) Time(t time.Time) {
	if t.Location() != time.UTC {
		w.value()
		w.out = append(t.AppendFormat(append(w.out, '"'), time.RFC3339Nano), '"')
		return
	}
	w.second(t)
	if n := t.Nanosecond(); n%int(time.Millisecond) != 0 {
		w.fraction(n, 9)
	} else if n != 0 {
		w.fraction(n/int(time.Millisecond), 3)
	}
	w.out = append(w.out, 'Z', '"')
}

// Millis appends a time in RFC 3339, in UTC and cut to milliseconds, all three digits of them.
func (w *Writer) Millis(t time.Time) {
	w.second(t.UTC())
	n := t.Nanosecond() / int(time.Millisecond)
	w.out = append(w.out, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10), 'Z', '"')
}

// second appends the time, which is in UTC, up to its whole seconds.
func (w *Writer) second(t time.Time) {
	w.value()
	if s := &w.last; s.size == 0 || s.unix != t.Unix() {
		s.unix = t.Unix()
		s.size = len(t.AppendFormat(s.text[:0], time.RFC3339)) - len("Z")
	}
	w.out = append(append(w.out, '"'), w.last.text[:w.last.size]...)
}

// fraction appends n, which isn't 0, as a part of a second, without zeros at the end.
func (w *Writer) fraction(n, digits int) {
	for ; n%10 == 0; digits-- {
		n /= 10
	}
	w.out = append(w.out, '.')
	at := len(w.out)
	w.out = append(w.out, "000000000"[:digits]...)
	for i := at + digits - 1; n > 0; i-- {
		w.out[i] = byte('0' + n%10)
		n /= 10
	}
}
