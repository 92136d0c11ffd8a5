package console

import "net/url"

// question is asked before something is done that can't be taken back whole. The form is sent again with the answer.
type question struct {
	Title, Text, Button string
	Form                url.Values
	Back                string // below the root
}

// asked reports whether the posted form has the answer; else it shows the question.
func (c *Console) asked(x exchange, section string, q question) bool {
	if x.r.PostForm.Get("sure") != "" {
		return true
	}
	q.Form = x.r.PostForm
	_ = c.show(x, page{Name: "sure", Section: section, Title: q.Title, Data: q})
	return false
}
