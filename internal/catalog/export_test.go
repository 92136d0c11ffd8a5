package catalog

// The two roads of Decode.
var (
	DecodeFast    = decodeFast
	DecodeGeneral = decodeGeneral
)

// Verdicts compiles a schema. The function that it returns reports whether the fast lane accepts a
// value, and whether the general road does.
func Verdicts(schema []byte) (func(raw []byte) (accepted, valid bool), error) {
	c, err := compileSchema("test", schema)
	if err != nil {
		return nil, err
	}
	return func(raw []byte) (accepted, valid bool) {
		rows, err := c.generalViolations("value", raw)
		return c.fast.Accepts(raw, nil), err == nil && len(rows) == 0
	}, nil
}

// Narrows and Patched are the two steps by which a tier's schema is made of its base's.
var (
	Narrows = narrows
	Patched = patched
)

// MaxHashes is how many schemas are remembered at most.
const MaxHashes = maxHashes

// Judge judges the schema of a tool's arguments.
func Judge(schema string) {
	rowsOfSchema([]string{"a"}, []byte(schema), "a test's", (*strictness).loose)
}

// SoundSchemas returns how many are remembered.
func SoundSchemas() int {
	soundSchemas.mu.RLock()
	defer soundSchemas.mu.RUnlock()
	return len(soundSchemas.all)
}
