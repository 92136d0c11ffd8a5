// Package docs carries the documents that the program itself needs: the API's contract in OpenAPI.
//
// It imports no other package of the project and holds no logic.
package docs

import _ "embed"

// OpenAPI is openapi.yaml, the contract that the server serves and its tests validate against.
//
//go:embed openapi.yaml
var OpenAPI []byte
