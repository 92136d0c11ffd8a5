package gemini

import (
	"encoding/json"
	"slices"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// grounding is what an answer says of the search that it rests on.
type grounding struct {
	Queries []string `json:"webSearchQueries"`
	Chunks  []struct {
		Web struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
		} `json:"web"`
	} `json:"groundingChunks"`
	Supports []struct {
		Segment struct {
			Text string `json:"text"`
		} `json:"segment"`
		Chunks []int `json:"groundingChunkIndices"`
	} `json:"groundingSupports"`
}

// sources gathers the pages and the queries of an answer, whose events may repeat each other.
type sources struct {
	queries []string
	pages   []page
	chunks  []int // the pages of the last list of chunks, by index; -1 for what is no page
}

type page struct {
	url, title string
	texts      []string // of the answer
}

// add takes a piece of metadata. What can't be read has no pages: the answer was paid for.
func (s *sources) add(raw json.RawMessage) {
	var g grounding
	if len(raw) == 0 || upstream.Decode(raw, &g) != nil {
		return
	}
	for _, q := range g.Queries {
		if q != "" && !slices.Contains(s.queries, q) {
			s.queries = append(s.queries, q)
		}
	}
	if len(g.Chunks) > 0 {
		s.chunks = nil
	}
	for _, c := range g.Chunks {
		s.chunks = append(s.chunks, s.page(c.Web.URI, c.Web.Title))
	}
	for _, support := range g.Supports {
		for _, i := range support.Chunks {
			if i < 0 || i >= len(s.chunks) || s.chunks[i] < 0 || support.Segment.Text == "" {
				continue
			}
			if p := &s.pages[s.chunks[i]]; !slices.Contains(p.texts, support.Segment.Text) {
				p.texts = append(p.texts, support.Segment.Text)
			}
		}
	}
}

// page returns the index of a page, -1 without an address.
func (s *sources) page(url, title string) int {
	if url == "" {
		return -1
	}
	i := slices.IndexFunc(s.pages, func(p page) bool { return p.url == url })
	if i < 0 {
		i = len(s.pages)
		s.pages = append(s.pages, page{url: url, title: title})
	}
	return i
}

// citations returns the pages in their order, each once for each piece of the answer that it is cited for.
func (s *sources) citations() []supplier.Citation {
	var all []supplier.Citation
	for _, p := range s.pages {
		if p.texts == nil {
			all = append(all, supplier.Citation{URL: p.url, Title: p.title})
		}
		for _, text := range p.texts {
			all = append(all, supplier.Citation{URL: p.url, Title: p.title, Text: text})
		}
	}
	return all
}

// searches returns how many searches are charged: the queries that differ, or with a model before the series 3 the
// request as one.
func (s *sources) searches(model string) int64 {
	if traitsOf(model).third {
		return int64(len(s.queries))
	}
	return min(int64(len(s.queries)+len(s.pages)), 1)
}
