package config

import (
	"errors"

	"unitask/internal/task"
)

// Price is a price in USD a unit. Amounts are exact.
type Price struct {
	Unit   Unit   `yaml:"unit" doc:"mtok (a million tokens), image, second, mchar (a million characters), page, request or search"`
	Input  Amount `yaml:"input" default:"0" doc:"for what goes in"`
	Output Amount `yaml:"output" default:"0" doc:"for what comes out"`

	CachedInput *Amount `yaml:"cached_input,omitempty" doc:"for a million tokens read from a cache, if they don't cost as the input"`
	CacheWrite  *Amount `yaml:"cache_write,omitempty" doc:"for a million tokens written to a cache, if they don't cost as the input"`
	ImageInput  *Amount `yaml:"image_input,omitempty" doc:"for a million tokens of images, if they don't cost as the input"`
	AudioInput  *Amount `yaml:"audio_input,omitempty" doc:"for a million tokens of sound, if they don't cost as the input"`
	Reasoning   *Amount `yaml:"reasoning,omitempty" doc:"for a million tokens of reasoning, if they don't cost as the output"`
	ImageOutput *Amount `yaml:"image_output,omitempty" doc:"for a million tokens of images, if they don't cost as the output"`
	AudioOutput *Amount `yaml:"audio_output,omitempty" doc:"for a million tokens of sound, if they don't cost as the output"`
	Page        *Amount `yaml:"page,omitempty" doc:"for a page, beside the unit"`
	Request     *Amount `yaml:"request,omitempty" doc:"for a request, beside the unit"`
	Search      *Amount `yaml:"search,omitempty" doc:"for a search, beside the unit"`
}

// rate is a price beside input and output.
type rate struct {
	name string    // of the setting
	unit task.Unit // that it is the price of
}

// rates returns those that are set.
func (p Price) rates() []rate {
	var all []rate
	for _, one := range []struct {
		amount *Amount
		rate
	}{
		{p.CachedInput, rate{"cached_input", task.PerMillionTokens}},
		{p.CacheWrite, rate{"cache_write", task.PerMillionTokens}},
		{p.ImageInput, rate{"image_input", task.PerMillionTokens}},
		{p.AudioInput, rate{"audio_input", task.PerMillionTokens}},
		{p.Reasoning, rate{"reasoning", task.PerMillionTokens}},
		{p.ImageOutput, rate{"image_output", task.PerMillionTokens}},
		{p.AudioOutput, rate{"audio_output", task.PerMillionTokens}},
		{p.Page, rate{"page", task.PerPage}},
		{p.Request, rate{"request", task.PerRequest}},
		{p.Search, rate{"search", task.PerSearch}},
	} {
		if one.amount != nil {
			all = append(all, one.rate)
		}
	}
	return all
}

// Task returns the price as tasks carry it.
func (p Price) Task() task.Price {
	out := task.Price{Unit: task.Unit(p.Unit), Input: task.Money(p.Input), Output: task.Money(p.Output)}
	rates := task.Rates{
		CachedInput: (*task.Money)(p.CachedInput), CacheWrite: (*task.Money)(p.CacheWrite),
		ImageInput: (*task.Money)(p.ImageInput), AudioInput: (*task.Money)(p.AudioInput), Reasoning: (*task.Money)(p.Reasoning),
		ImageOutput: (*task.Money)(p.ImageOutput), AudioOutput: (*task.Money)(p.AudioOutput),
		Page: (*task.Money)(p.Page), Request: (*task.Money)(p.Request), Search: (*task.Money)(p.Search),
	}
	if rates != (task.Rates{}) {
		out.Rates = &rates
	}
	return out
}

// Unit is the unit of a price.
type Unit task.Unit

// UnmarshalText reads one of the units; "" is no unit.
func (u *Unit) UnmarshalText(text []byte) error {
	if *u = Unit(text); *u != "" && !task.Unit(text).Valid() {
		return errors.New("must be mtok, image, second, mchar, page, request or search")
	}
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u), nil }

// Amount is an exact amount in USD, written like "0.05".
type Amount task.Money

// UnmarshalText reads an Amount of zero or more.
func (a *Amount) UnmarshalText(text []byte) error {
	m, err := task.ParseMoney(string(text))
	*a = Amount(m)
	if err != nil {
		return errors.New(`must be an amount in USD with at most nine decimals, such as "0.05"`)
	}
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (a Amount) MarshalText() ([]byte, error) { return []byte(task.Money(a).String()), nil }
