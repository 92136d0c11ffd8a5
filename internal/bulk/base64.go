package bulk

// IsBase64 reports whether a text is padded base64 of the standard alphabet without line breaks. It doesn't decode, and
// takes stray bits before the padding.
func IsBase64[Text string | []byte](text Text) bool {
	n := len(text)
	for n > 0 && text[n-1] == '=' {
		n--
	}
	if len(text)%4 != 0 || len(text)-n > 2 {
		return false
	}
	odd := byte(0)
	i := 0
	for ; i+8 <= n; i += 8 { // without a branch: megabytes come here
		p := text[i : i+8]
		odd |= notPair[uint16(p[0])|uint16(p[1])<<8] | notPair[uint16(p[2])|uint16(p[3])<<8] |
			notPair[uint16(p[4])|uint16(p[5])<<8] | notPair[uint16(p[6])|uint16(p[7])<<8]
	}
	for ; i < n; i++ {
		odd |= notPair[uint16(text[i])|'A'<<8]
	}
	return odd == 0
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
