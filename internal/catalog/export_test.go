package catalog

// The two ways that a body is decoded.
var (
	DecodePlain      = decodePlain
	DecodeThoroughly = decode
)

// Verdicts returns the verdicts of a schema's form and of the validator on a value.
func Verdicts(schema []byte) (func(raw []byte) (taken, valid bool), error) {
	c, err := compileSchema("test", schema)
	if err != nil {
		return nil, err
	}
	return func(raw []byte) (taken, valid bool) {
		rows, err := c.judge("value", raw)
		return c.form.takes(raw), err == nil && len(rows) == 0
	}, nil
}
