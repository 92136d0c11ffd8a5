package sandbox

import (
	"math/big"
	"regexp"
	"strings"
)

// expression finds small arithmetic in an ask.
var expression = regexp.MustCompile(`[-(]*\d[-+*/×÷().\d\s]*[-+*/×÷][-+*/×÷().\d\s]*[\d)]`)

// The bounds of an ask that is looked through and of an expression, in bytes.
const longestAsk, longestSum = 10_000, 200

// calculate answers the first sum in an ask.
func calculate(ask string) string {
	if len(ask) > longestAsk {
		return ""
	}
	found := expression.FindString(ask)
	if found == "" || len(found) > longestSum {
		return ""
	}
	found = strings.Join(strings.Fields(found), "")
	p := &sum{rest: strings.NewReplacer("×", "*", "÷", "/").Replace(found)}
	value := p.terms()
	if p.failed || p.rest != "" {
		return ""
	}
	text := value.FloatString(6)
	if value.IsInt() {
		text = value.Num().String()
	}
	if strings.Contains(text, ".") {
		text = strings.TrimRight(text, "0")
	}
	return found + " = " + text
}

// sum reads an expression by recursive descent.
type sum struct {
	rest   string
	failed bool
}

// take consumes one of the characters, 0 if another one is next.
func (s *sum) take(of string) byte {
	if s.rest == "" || !strings.ContainsRune(of, rune(s.rest[0])) {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

func (s *sum) terms() *big.Rat {
	total := s.factors()
	for op := s.take("+-"); op != 0; op = s.take("+-") {
		next := s.factors()
		if op == '-' {
			next.Neg(next)
		}
		total.Add(total, next)
	}
	return total
}

func (s *sum) factors() *big.Rat {
	product := s.number()
	for op := s.take("*/"); op != 0; op = s.take("*/") {
		next := s.number()
		switch {
		case op == '*':
			product.Mul(product, next)
		case next.Sign() == 0:
			s.failed = true
		default:
			product.Quo(product, next)
		}
	}
	return product
}

func (s *sum) number() *big.Rat {
	if s.take("-") != 0 {
		n := s.number()
		return n.Neg(n)
	}
	if s.take("(") != 0 {
		n := s.terms()
		s.failed = s.failed || s.take(")") == 0
		return n
	}
	end := 0
	for end < len(s.rest) && (s.rest[end] >= '0' && s.rest[end] <= '9' || s.rest[end] == '.') {
		end++
	}
	n, ok := new(big.Rat).SetString(s.rest[:end])
	if !ok {
		s.failed = true
		return new(big.Rat)
	}
	s.rest = s.rest[end:]
	return n
}
