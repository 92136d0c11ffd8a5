package server

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/goccy/go-yaml"

	"unitask/docs"
)

// document is the API's contract in both notations.
type document struct{ yaml, json []byte }

// loadDocument converts it once for all servers of the process: it is large.
var loadDocument = sync.OnceValues(func() (document, error) {
	raw, err := yaml.YAMLToJSON(docs.OpenAPI)
	if err != nil {
		return document{}, err
	}
	return document{yaml: docs.OpenAPI, json: raw}, nil
})

func (s *Server) handleOpenAPIYAML(x *exchange) error {
	s.serveDocument(x, "application/yaml; charset=utf-8", s.document.yaml)
	return nil
}

func (s *Server) handleOpenAPIJSON(x *exchange) error {
	s.serveDocument(x, "application/json; charset=utf-8", s.document.json)
	return nil
}

func (s *Server) serveDocument(x *exchange, contentType string, body []byte) {
	h := x.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(http.StatusOK)
	_, _ = x.Write(body)
}
