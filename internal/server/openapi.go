package server

import (
	"net/http"
	"strconv"

	"github.com/goccy/go-yaml"

	"unitask/docs"
)

// document is the API's contract in both notations.
type document struct{ yaml, json []byte }

func loadDocument() (document, error) {
	raw, err := yaml.YAMLToJSON(docs.OpenAPI)
	if err != nil {
		return document{}, err
	}
	return document{yaml: docs.OpenAPI, json: raw}, nil
}

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
