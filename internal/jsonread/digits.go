package jsonread

// IsBase64 reports whether a text is padded base64 of the standard alphabet without line breaks. It doesn't decode, and
// takes stray bits before the padding.
func IsBase64[Text string | []byte](text Text) bool {
	n := len(text)
	for n > 0 && text[n-1] == '=' {
		n--
	}
	return len(text)%4 == 0 && len(text)-n <= 2 && base64Digits(text[:n]) == n
}

// base64Digits returns how many digits of standard base64 the text begins with.
func base64Digits[Text string | []byte](text Text) (n int) {
	const step = 512 // bytes without a branch: megabytes come here
	for odd := byte(0); n+step <= len(text); n += step {
		for i := n; i < n+step; i += 8 {
			p := text[i : i+8]
			odd |= notPair[uint16(p[0])|uint16(p[1])<<8] | notPair[uint16(p[2])|uint16(p[3])<<8] |
				notPair[uint16(p[4])|uint16(p[5])<<8] | notPair[uint16(p[6])|uint16(p[7])<<8]
		}
		if odd != 0 {
			break
		}
	}
	for n < len(text) && notPair[uint16(text[n])|'A'<<8] == 0 {
		n++
	}
	return n
}

// notPair is 1 for each pair of bytes that aren't two digits of standard base64. Digits touch 8 KiB of it.
var notPair = func() (table [1 << 16]byte) {
	var digit [256]bool
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		digit[c] = true
	}
	for i := range table {
		if !digit[i&0xff] || !digit[i>>8] {
			table[i] = 1
		}
	}
	return table
}()
