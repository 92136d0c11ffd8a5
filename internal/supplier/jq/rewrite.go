package jq

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// The names that a rewritten program has beyond its own, which no program can spell.
const (
	meterName        = "$__meter"
	accountName      = "_account"
	accountArguments = 4
)

// patternBytes is the most bytes of a regular expression.
const patternBytes = 256

// rewriter checks a parsed program and puts the charges into it. It keeps the first fault.
type rewriter struct {
	known  map[string]bool // variables
	used   map[string]bool
	whole  map[string]bool
	errors []string
	err    error
}

func (r *rewriter) refuse(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// charged returns the query with a charge of its results.
func charged(q *gojq.Query, class, weight int, literal string) *gojq.Query {
	number := func(n int) *gojq.Query {
		return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)}}
	}
	return &gojq.Query{Left: q, Op: gojq.OpPipe, Right: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{
		Name: accountName,
		Args: []*gojq.Query{
			{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: meterName}}},
			number(class), number(weight),
			{Term: &gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: literal}}},
		},
	}}}}
}

func inBrackets(q *gojq.Query) *gojq.Term { return &gojq.Term{Type: gojq.TermTypeQuery, Query: q} }

func (r *rewriter) query(q *gojq.Query) *gojq.Query {
	if q == nil || r.err != nil {
		return q
	}
	switch {
	case q.Meta != nil || len(q.Imports) > 0:
		r.refuse("imports a module, which no map may")
	case len(q.FuncDefs) > 0:
		r.refuse("defines the function %s; a map has no definitions", q.FuncDefs[0].Name)
	case len(q.Patterns) > 1:
		r.refuse("uses ?//, which no map may")
	case q.Term == nil && q.Right == nil:
		r.refuse("is empty")
	case q.Term != nil:
		return &gojq.Query{Term: r.term(q.Term)}
	}
	if r.err != nil {
		return q
	}
	left := r.query(q.Left)
	added := r.patterns(q.Patterns)
	out := &gojq.Query{Left: left, Op: q.Op, Patterns: q.Patterns, Right: r.query(q.Right)}
	r.forget(added)
	class, weight := -1, 1
	switch q.Op {
	case gojq.OpPipe, gojq.OpComma, gojq.OpAnd, gojq.OpOr, gojq.OpAlt:
		return out
	case gojq.OpAdd:
		class = ofShallow
	case gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		class = ofNumber
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		class = ofDeep
	default:
		r.refuse("assigns by %s; a map builds new values instead", q.Op)
		return q
	}
	out.Left, out.Right = charged(out.Left, class, weight, ""), charged(out.Right, class, weight, "")
	return out
}

// patterns notes the variables of patterns, and returns those that weren't known.
func (r *rewriter) patterns(all []*gojq.Pattern) (added []string) {
	for _, p := range all {
		if p == nil {
			continue
		}
		names := []string{p.Name}
		for _, o := range p.Object {
			if strings.HasPrefix(o.Key, "$") {
				names = append(names, o.Key)
			}
			o.KeyQuery = r.query(o.KeyQuery)
			r.text(o.KeyString, ofDeep)
			added = append(added, r.patterns([]*gojq.Pattern{o.Val})...)
		}
		for _, name := range names {
			if name != "" && !r.known[name] {
				r.known[name] = true
				added = append(added, name)
			}
			if strings.HasPrefix(name, "$__") {
				r.refuse("binds %s, a reserved name", name)
			}
		}
		added = append(added, r.patterns(p.Array)...)
	}
	return added
}

func (r *rewriter) forget(names []string) {
	for _, name := range names {
		delete(r.known, name)
	}
}

// term rewrites a term: its head, and then one suffix after the other.
func (r *rewriter) term(t *gojq.Term) *gojq.Term {
	r.whole[lastName(t)] = true
	head := *t
	head.SuffixList = nil
	out := r.head(&head)
	for _, s := range t.SuffixList {
		if r.err != nil {
			return t
		}
		class := -1
		switch {
		case s.Iter:
			class = ofEach
		case s.Index != nil && r.index(s.Index):
			class = ofShallow
		}
		if class >= 0 {
			out = inBrackets(charged(&gojq.Query{Term: out}, class, 1, ""))
		}
		out.SuffixList = append(out.SuffixList, s)
	}
	return out
}

// lastName is the name of the member that a path such as .a.b ends with; "" if it ends otherwise.
func lastName(t *gojq.Term) string {
	last := t.Index
	for _, s := range t.SuffixList {
		if !s.Optional {
			last = s.Index
		}
	}
	if last == nil {
		return ""
	}
	return last.Name
}

// index rewrites an index, and reports whether it depends on values.
func (r *rewriter) index(i *gojq.Index) (computed bool) {
	if i.Name != "" {
		r.used[i.Name] = true
	}
	r.text(i.Str, ofDeep)
	for _, bound := range []**gojq.Query{&i.Start, &i.End} {
		if *bound != nil {
			*bound = charged(r.query(*bound), ofKey, 1, "")
			computed = true
		}
	}
	return computed
}

// head rewrites a term without suffixes.
func (r *rewriter) head(t *gojq.Term) *gojq.Term {
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
	case gojq.TermTypeIndex:
		if r.index(t.Index) {
			out := inBrackets(charged(&gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, ofShallow, 1, ""))
			out.SuffixList = []*gojq.Suffix{{Index: t.Index}}
			return out
		}
	case gojq.TermTypeFunc:
		return r.call(t)
	case gojq.TermTypeObject:
		r.object(t.Object)
	case gojq.TermTypeArray:
		t.Array = &gojq.Array{Query: r.query(t.Array.Query)}
	case gojq.TermTypeUnary:
		operand := charged(&gojq.Query{Term: r.term(t.Unary.Term)}, ofNumber, 1, "")
		t.Unary = &gojq.Unary{Op: t.Unary.Op, Term: inBrackets(operand)}
	case gojq.TermTypeFormat:
		return r.format(t)
	case gojq.TermTypeString:
		r.text(t.Str, ofDeep)
	case gojq.TermTypeQuery:
		t.Query = r.query(t.Query)
	default:
		return r.control(t)
	}
	return t
}

// control rewrites a term that steers the program.
func (r *rewriter) control(t *gojq.Term) *gojq.Term {
	switch t.Type {
	case gojq.TermTypeIf:
		branches := gojq.If{Cond: r.query(t.If.Cond), Then: r.query(t.If.Then), Else: r.query(t.If.Else)}
		for _, e := range t.If.Elif {
			branches.Elif = append(branches.Elif, &gojq.IfElif{Cond: r.query(e.Cond), Then: r.query(e.Then)})
		}
		t.If = &branches
	case gojq.TermTypeTry:
		t.Try = &gojq.Try{Body: r.query(t.Try.Body), Catch: r.query(t.Try.Catch)}
	case gojq.TermTypeReduce, gojq.TermTypeForeach:
		r.loop(t)
	default:
		r.refuse("uses label and break, which no map may")
	}
	return t
}

func (r *rewriter) loop(t *gojq.Term) {
	if e := t.Reduce; e != nil {
		source, start := r.query(e.Query), r.query(e.Start)
		added := r.patterns(e.Patterns)
		t.Reduce = &gojq.Reduce{Query: source, Patterns: e.Patterns, Start: start, Update: r.query(e.Update)}
		r.forget(added)
		return
	}
	e := t.Foreach
	source, start := r.query(e.Query), r.query(e.Start)
	added := r.patterns(e.Patterns)
	t.Foreach = &gojq.Foreach{Query: source, Patterns: e.Patterns, Start: start, Update: r.query(e.Update), Extract: r.query(e.Extract)}
	r.forget(added)
}

func (r *rewriter) object(o *gojq.Object) {
	for _, kv := range o.KeyVals {
		if strings.HasPrefix(kv.Key, "$") {
			r.variable(kv.Key)
		} else if kv.Key != "" {
			r.used[kv.Key] = true
		}
		r.text(kv.KeyString, ofDeep)
		kv.KeyQuery, kv.Val = r.query(kv.KeyQuery), r.query(kv.Val)
	}
}

// text rewrites the interpolations of a text.
func (r *rewriter) text(s *gojq.String, class int) {
	if s == nil {
		return
	}
	r.used[s.Str] = true
	for i, q := range s.Queries {
		if q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str != nil {
			continue // a piece of the text itself
		}
		s.Queries[i] = &gojq.Query{Term: inBrackets(charged(r.query(q), class, 2, ""))}
	}
}

func (r *rewriter) format(t *gojq.Term) *gojq.Term {
	weight, known := formats[t.Format]
	if !known {
		r.refuse("uses the format %s, which no map may", t.Format)
		return t
	}
	if t.Str != nil {
		for i, q := range t.Str.Queries {
			if q.Term == nil || q.Term.Type != gojq.TermTypeString || q.Term.Str == nil {
				t.Str.Queries[i] = &gojq.Query{Term: inBrackets(charged(r.query(q), ofDeep, weight, ""))}
			}
		}
		return t
	}
	whole := charged(&gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, ofDeep, weight, "")
	return inBrackets(&gojq.Query{Left: whole, Op: gojq.OpPipe, Right: &gojq.Query{Term: t}})
}

func (r *rewriter) variable(name string) {
	if r.used[name] = true; !r.known[name] {
		r.refuse("uses the variable %s, which it doesn't have", name)
	}
}

// call rewrites the call of a function, or the use of a variable.
func (r *rewriter) call(t *gojq.Term) *gojq.Term {
	name := t.Func.Name
	if strings.HasPrefix(name, "$") {
		r.variable(name)
		return t
	}
	f, known := functions[name+"/"+strconv.Itoa(len(t.Func.Args))]
	if !known {
		r.refuse("calls %s with %d arguments, which no map may", name, len(t.Func.Args))
		return t
	}
	front := cost{-1, 1}
	if f.cost != nil {
		front = *f.cost
	}
	literal := ""
	args := make([]*gojq.Query, len(f.args))
	for i, a := range t.Func.Args {
		switch f.args[i] {
		case aLiteral:
			literal, args[i] = r.literal(name, a), a
		case aPattern:
			literal, args[i] = r.literal(name, a), a
			front = cost{ofShallow, r.pattern(literal)}
		case aKey:
			args[i] = charged(r.query(a), ofKey, 1, "")
		case aNumber:
			args[i] = charged(r.query(a), ofNumber, 1, "")
		case aSorted:
			args[i] = charged(r.query(a), ofDeep, 2, "")
		default:
			args[i] = r.query(a)
		}
	}
	if name == "error" {
		r.errors = append(r.errors, literal)
	}
	called := &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}
	if front.class < 0 {
		return called
	}
	input := charged(&gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, front.class, front.weight, literal)
	return inBrackets(&gojq.Query{Left: input, Op: gojq.OpPipe, Right: &gojq.Query{Term: called}})
}

// literal returns the text that an argument is.
func (r *rewriter) literal(function string, q *gojq.Query) string {
	if q.Term == nil || q.Term.Type != gojq.TermTypeString || q.Term.Str.Queries != nil || len(q.Term.SuffixList) > 0 {
		r.refuse("calls %s with something other than a text in quotes", function)
		return ""
	}
	return q.Term.Str.Str
}

// pattern checks a regular expression and returns its size, which is the work that it makes of each byte.
func (r *rewriter) pattern(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		_, err = regexp.Compile(text)
	}
	if err != nil || len(text) > patternBytes {
		r.refuse("has a regular expression that is none, or longer than %d bytes", patternBytes)
		return 1
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		r.err = errors.Join(r.err, err)
		return 1
	}
	return max(1, len(compiled.Inst))
}
