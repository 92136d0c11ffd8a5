package config

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/secret"
)

// pricesCSV holds list prices, the defaults of the built-in routes.
//
//go:embed prices.csv
var pricesCSV string

// OllamaAddress is the default address of a local Ollama.
const OllamaAddress = "http://127.0.0.1:11434/v1"

// Builtin is a supplier that is used without configuration if its key is found.
type Builtin struct {
	Title    string // for the banner
	Variable string // that holds its key; "" for one on this machine
	Supplier Supplier
	Routes   map[catalog.Name][]Route
}

// Builtins returns the suppliers known without configuration, in the banner's order, with the routes
// and prices of the embedded list. A route's model "*" stands for whatever the supplier has.
func Builtins() []Builtin {
	known := []Builtin{
		builtin("OpenAI", "openai", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
		builtin("Anthropic", "anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
		builtin("Gemini", "gemini", "gemini", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
		builtin("Groq", "groq", "openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
		builtin("DeepSeek", "deepseek", "openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
		builtin("xAI", "xai", "openai", "https://api.x.ai/v1", "XAI_API_KEY"),
		builtin("OpenRouter", "openrouter", "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
		builtin("fal", "fal", "fal", "https://queue.fal.run", "FAL_KEY"),
		builtin("Replicate", "replicate", "replicate", "https://api.replicate.com", "REPLICATE_API_TOKEN"),
		builtin("Ollama", "ollama", "openai", OllamaAddress, ""),
	}
	for _, row := range priceList() {
		for i := range known {
			if known[i].Supplier.Name == row.supplier {
				known[i].Routes[row.capability] = append(known[i].Routes[row.capability], row.route)
			}
		}
	}
	return known
}

func builtin(title, name, kind, baseURL, variable string) Builtin {
	s := Supplier{Name: name, Kind: kind, BaseURL: baseURL}
	if variable != "" {
		s.APIKey = secret.Env(variable)
	}
	return Builtin{Title: title, Variable: variable, Supplier: s, Routes: map[catalog.Name][]Route{}}
}

// listed is one row of the price list.
type listed struct {
	supplier   string
	capability catalog.Name
	route      Route
}

// priceList reads the embedded list; a test holds that it is well-formed.
func priceList() []listed {
	reader := csv.NewReader(strings.NewReader(pricesCSV))
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		panic("config: prices.csv: " + err.Error())
	}
	var out []listed
	for _, row := range rows[1:] {
		price, err := parsePrice(row[3], row[4], row[5])
		if err != nil {
			panic(fmt.Sprintf("config: prices.csv: %v: %v", row, err))
		}
		out = append(out, listed{row[0], catalog.Name(row[2]), Route{Supplier: row[0], Model: row[1], Price: price, Approved: true}})
	}
	return out
}

func parsePrice(unit, input, output string) (Price, error) {
	var p Price
	if err := p.Unit.UnmarshalText([]byte(unit)); err != nil {
		return p, err
	}
	if err := p.Input.UnmarshalText([]byte(input)); err != nil {
		return p, err
	}
	return p, p.Output.UnmarshalText([]byte(output))
}
