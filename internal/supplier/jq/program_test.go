package jq_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"unitask/internal/supplier/jq"
)

// sample is the input of the programs that end well.
const sample = `{"model":"m","n":3,"ok":true,"none":null,"text":"Ünï <b>","list":[3,1,2,1],"words":["b","a","c"],
	"rows":[{"i":0,"s":0.5,"t":"x"},{"i":1,"s":0.25,"t":"y"}],"nested":{"a":{"b":[1,[2,[3]]]}},"json":"{\"a\":[1]}","x":"1.5"}`

// programs are the shapes that maps are written in: gojq and the bounded form of each must give the same.
var programs = []string{
	`.`, `.model`, `."model"`, `.["model"]`, `.rows[0].t`, `.rows[-1]`, `.list[1:3]`, `.text[0:2]`, `.rows[.n - 2].t`, `.nope.nope`,
	`{model, n, copy: .text, "a b": 1, (.words[0]): 2, "k\(.n)": 3}`, `[.rows[] | {index: .i, score: .s}]`, `[.rows[].t] + ["z"]`,
	`.rows | map(.s) | add`, `[.words[], .list[]]`, `.list | sort, (. | length) | select(type == "array")`, `.n * 2 + 1 - 4 / 2 % 3`,
	`-.n`, `.n == 3 and .ok or .none`, `.none // "default"`, `.nope? // .n`, `[.list[] | select(. > 1)]`, `"a\(.n)b\(.rows)c"`, `@base64 "x\(.text)"`,
	`.text | @base64 | @base64d`, `.text | @uri`, `.text | @html`, `.rows | tojson | fromjson`, `.x | tonumber`, `.n | tostring`, `@json`, `@text`,
	`if .ok then 1 elif .none then 2 else 3 end`, `try error("no") catch .`, `[.list[] as $x | .n as $y | $x * $y]`, `.rows as [{$t}] | $t`,
	`.rows[0] as {i: $a, t: $b} | [$a, $b]`, `reduce .list[] as $x (0; . + $x)`, `[foreach .list[] as $x (0; . + $x; . * 2)]`, `[foreach .list[] as $x (0; . + $x)]`,
	`[..] | length`, `[recurse | numbers]`, `.words | join(", ")`, `.text | split(" ")`, `.words | sort_by(.) | reverse | first`, `.rows | sort_by(.s) | map(.i)`,
	`.rows | group_by(.t) | length`, `.list | unique, min, max | tojson`, `.rows | min_by(.s).t, max_by(.s).t | ascii_upcase`, `.list | unique_by(. % 2)`,
	`.nested.a.b | flatten`, `.nested.a.b | flatten(1)`, `to_entries | map(.key) | length`, `.rows[0] | with_entries(.key |= . )?`, `.rows[0] | with_entries({key: .key, value: 1})`,
	`.rows[0] | map_values(tostring)`, `[{key: "a", value: 1}] | from_entries`, `.rows[0] | keys, length | tojson`, `.rows[0] | has("i")`, `del(.rows, .list[0])`,
	`.list | any(. > 2), all(. > 0) | not`, `any(.list[]; . == 2)`, `isempty(.list[] | select(. > 9))`, `[limit(2; .list[])]`, `first(.list[])`, `last(.list[])`, `[range(3)], [range(1; 3)], [range(0; 6; 2)] | add`,
	`.text | test("^\\p{L}+ <"), startswith("Ü"), endswith(">"), contains("b") | tojson`, `.text | ltrimstr("Ü"), rtrimstr(">"), trim | length`, `.s | nulls`, `[.[] | scalars] | length`,
	`.x | tonumber | floor, ceil, round, sqrt, abs | tojson`, `[.rows[] | .["t"]]`, `.rows[]?`, `.list | first, last`, `{} | .a.b`, `[.[]?] | length`, `.words | .[1:] | .[0]`, `.list | length as $n | add / $n`,
	`empty`, `.a[]`, `1, 2`, `.text.x`, `{(.n): 1}`, `.list + 1`, `[] | first`, `"x" | tonumber`, `.rows | join(",")`, `[.[] | strings] | add`,
}

// TestSame holds that the charges leave a program's meaning as it is: gojq, run on the program as written, gives the
// same result, or fails too.
func TestSame(t *testing.T) {
	input, err := jq.Decode([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, text := range programs {
		query, err := gojq.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		program, err := jq.Compile(text)
		if err != nil {
			if !strings.Contains(text, "|=") {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var want []any
		for results := query.Run(input); len(want) < 5; {
			v, more := results.Next()
			if !more {
				break
			}
			want = append(want, v)
		}
		got, err := program.Run(t.Context(), input)
		_, fails := append(want, nil)[0].(error)
		if (err == nil) != (len(want) == 1 && !fails) {
			t.Errorf("%s: got %v, %v; gojq gives %v", text, got, err, want)
			continue
		}
		if err == nil {
			same++
			if diff := cmp.Diff(want[0], got); diff != "" {
				t.Errorf("%s (-gojq +got):\n%s", text, diff)
			}
		}
	}
	if same < 60 {
		t.Errorf("only %d programs gave a result", same)
	}
}

// TestRefused names the function or the form that a program may not use.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		`env.HOME`: "calls env", `$ENV`: "$ENV", `$__loc__`: "$__loc__", `$__meter`: "$__meter", `input`: "calls input", `[inputs]`: "calls inputs",
		`input_filename`: "calls input_filename", `now`: "calls now", `debug`: "calls debug", `halt`: "calls halt", `halt_error`: "calls halt_error",
		`import "a" as a; 1`: "imports a module", `include "a"; 1`: "imports a module", `def f: f; f`: "defines the function f",
		`[.[] | repeat(.)]`: "calls repeat", `until(false; .)`: "calls until", `recurse(.)`: "calls recurse with 1", `while(true; .)`: "calls while",
		`.a = 1`: "assigns by =", `.a |= 1`: "assigns by |=", `.a += 1`: "assigns by +=", `setpath(["a"]; 1)`: "calls setpath", `getpath(["a"])`: "calls getpath",
		`gsub("a"; "b")`: "calls gsub", `[match("a")]`: "calls match", `test(.a)`: "other than a text", `test("(")`: "regular expression",
		`join(.a)`: "other than a text", `split("\(.a)")`: "other than a text", `error(.a)`: "other than a text", `error`: "calls error with 0",
		`@sh`: "format @sh", `@csv`: "format @csv", `label $x | break $x`: "label", `.a as [$x] ?// $x | $x`: "?//", `1 as $__meter | $__meter`: "reserved",
		`_account(1; 1; 1; "")`: "calls _account", `$x`: "$x", `.a as $y | 1 | $y`: "", `(1 as $y | $y) | $y`: "$y", `{$x}`: "$x", `explode`: "calls explode",
		`builtins`: "calls builtins", `modulemeta`: "calls modulemeta", `splits("a")`: "calls splits", `walk(.)`: "calls walk", `tostream`: "calls tostream",
		`ltrimstr("a"; 1)`: "calls ltrimstr with 2", `"\(now)"`: "calls now", `@base64 "\(now)"`: "calls now", `{a: now}`: "calls now", `.[now]`: "calls now",
		`{(now): 1}`: "calls now", `if now then 1 end`: "calls now", `try now`: "calls now", `reduce now as $x (1; 1)`: "calls now", `-now`: "calls now",
		`. as {(now): $x} | $x`: "calls now", `.a[now:]`: "calls now", `map(now)`: "calls now", strings.Repeat(" ", 1<<15) + ".": "longer than", `.a b`: "no jq program", ``: "is empty", `# a comment`: "is empty",
	} {
		_, err := jq.Compile(text)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", text, err, want)
		}
	}
}

// hostile are programs, or answers, that would take all memory or never end, with the bound that each meets.
var hostile = map[string]error{
	`[range(1e9)]`:      jq.ErrSteps,
	`last(range(1e18))`: jq.ErrSteps,
	`reduce range(60) as $i ("aaaaaaaa"; . + .)`:                                     jq.ErrBytes,
	`reduce range(60) as $i ([1]; . + .)`:                                            jq.ErrBytes,
	`reduce range(1e6) as $i ([]; . + [$i])`:                                         jq.ErrBytes,
	`reduce range(1e6) as $i ({}; . + {"\($i)": $i})`:                                jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | tojson | length`:                           jq.ErrBytes,
	`reduce range(60) as $i (1; [., .])`:                                             jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | flatten | length`:                          jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | . == (reduce range(60) as $i (1; [., .]))`: jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | [., .] | sort_by(.) | 1`:                   jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | [., .] | unique | length`:                  jq.ErrBytes,
	`reduce range(60) as $i (1; [., .]) | [..] | length`:                             jq.ErrSteps,
	`reduce range(60) as $i (1; [., .]) | "\(.)" | length`:                           jq.ErrBytes,
	`reduce range(60) as $i (1; {a: ., b: .}) | del(.a.a) | 1`:                       jq.ErrBytes,
	`reduce range(60) as $i ("a"; "\(.)\(.)")`:                                       jq.ErrBytes,
	`reduce range(60) as $i ("a"; [., ., .] | join(", "))`:                           jq.ErrBytes,
	`reduce range(60) as $i ("a"; [., .] | add)`:                                     jq.ErrBytes,
	`reduce range(60) as $i ("aaaaaaaa"; @base64)`:                                   jq.ErrBytes,
	`reduce range(60) as $i ("<<<<<<<<"; @html | . + .)`:                             jq.ErrBytes,
	`[range(4e4)] as $a | [$a[] as $x | $a[] | select($x == .)] | length`:            jq.ErrSteps,
	`[range(4e4)] as $a | [range(4e4) | $a[1:]] | map(length) | add`:                 jq.ErrBytes,
	`[range(2e4)] as $a | reduce range(2e4) as $i (0; $a | first(.[]))`:              jq.ErrBytes,
	`try [range(1e9)] catch "caught"`:                                                jq.ErrSteps,
	`(reduce range(60) as $i ("aaaaaaaa"; . + .))? // "caught"`:                      jq.ErrBytes,
	`.. | 1, last(range(1e18))`:                                                      nil,
	`[range(1e5)] | [.[] | tojson] | map(split("")) | length`:                        nil,
	`reduce range(1e5) as $i ([]; [.]) | tojson | length`:                            nil,
	`reduce range(1e5) as $i ([]; [.]) | . == 1`:                                     nil,
	`[range(1e9) | {a: ., b: .}]`:                                                    jq.ErrSteps,
	`[range(1e9) | [[.]]]`:                                                           jq.ErrSteps,
	`[range(1e9) | "\(.)"]`:                                                          jq.ErrSteps,
	`"x" * 1e9`:                                                                      nil,
	`{a: 1} * {a: 2}`:                                                                nil,
	`[1, 2] - [1]`:                                                                   nil,
	`"a,b" / ","`:                                                                    nil,
	`reduce range(60) as $i (2; . * .)`:                                              nil,
	`[[1, 2]] | .[[1, 2]]`:                                                           nil,
	`(reduce range(20) as $i ("9"; . + .)) | tonumber`:                               nil,
	`(reduce range(20) as $i ("9"; . + .)) | fromjson | . + 1`:                       nil,
	`(reduce range(18) as $i ("a"; . + .)) | test("(a?){40}(a?){40}(a?){9}b")`:       jq.ErrBytes,
}

// TestHostile runs each of them, with a bound on the memory that it takes at a time and on its duration.
func TestHostile(t *testing.T) {
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for text, want := range hostile {
		program, err := jq.Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		start := time.Now()
		peak := watched(func() { _, err = program.Run(t.Context(), nil) })
		if err == nil && want != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
		const most = 400 << 20 // of two million steps, each of which may keep an object
		if grown := int64(peak) - int64(before.HeapAlloc); grown > most {
			t.Errorf("%s: took %d MiB", text, grown>>20)
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s: took %v", text, took)
		}
		t.Logf("%v %d MiB %s: %v", time.Since(start).Round(time.Millisecond), (int64(peak)-int64(before.HeapAlloc))>>20, text, err)
	}
}

// watched runs f and returns the highest use of the heap that was seen meanwhile.
func watched(f func()) (peak uint64) {
	runtime.GC()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
		select {
		case <-done:
			return peak
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestErrors holds that an error of the program's own is told by its text alone, and others by no value.
func TestErrors(t *testing.T) {
	const secret = "a-secret-value"
	input := map[string]any{"a": secret, secret: 1}
	for text, want := range map[string]string{
		`error("too many")`:                   "too many",
		`if .a then error("no") else 1 end`:   "no",
		`.a.b`:                                "the program failed (*gojq.expectedObjectError)",
		`.a | tonumber`:                       "the program failed (*gojq.func0WrapError)",
		`.a + 1`:                              "the program failed (*gojq.binopTypeError)",
		`{(.a, 1): 1}`:                        "the program gives more than one result",
		`.a[]`:                                "the program failed (*gojq.iteratorError)",
		`.a * 2`:                              "only numbers of at most 64 digits can be calculated with",
		`.a | fromjson`:                       "the program failed (*gojq.func0WrapError)",
		`empty`:                               "the program gives no result",
		`.a, .a`:                              "the program gives more than one result",
		`reduce range(200) as $i (1; [.])`:    "a value is nested too deep",
		`try error("caught") catch .a`:        "the program failed (*gojq.expectedObjectError)",
		`.a | if . == "x" then 1 else .b end`: "the program failed (*gojq.expectedObjectError)",
	} {
		program, err := jq.Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, err = program.Run(t.Context(), input)
		if err == nil || err.Error() != want && text != `{(.a, 1): 1}` || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
		own, is := errors.AsType[*jq.Error](err)
		if is != (len(program.Errors()) > 0 && !strings.Contains(text, "catch")) {
			t.Errorf("%s: own error %v, of %v", text, own, program.Errors())
		}
	}
}

func TestCanceled(t *testing.T) {
	program, err := jq.Compile(`last(range(1e18))`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := program.Run(ctx, nil); !errors.Is(err, jq.ErrTime) {
		t.Errorf("got %v, want %v", err, jq.ErrTime)
	}
}

// TestVariables runs one program with different values at once.
func TestVariables(t *testing.T) {
	program, err := jq.Compile(`{$a, sum: ($a + $b)}`, "$a", "$b")
	if err != nil {
		t.Fatal(err)
	}
	if !program.Uses("$a") || !program.Uses("sum") || program.Uses("$c") {
		t.Error("the names used aren't known")
	}
	parts, err := jq.Compile(`.a.b + (.c | {d}) + .e?.f[0]`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": false, "b": true, "c": true, "d": false, "e": false, "f": false} {
		if got := parts.Whole(name); got != want || !parts.Uses(name) {
			t.Errorf("%s is taken whole: %t, used: %t", name, got, parts.Uses(name))
		}
	}
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			got, err := program.Run(t.Context(), nil, i, 1)
			if diff := cmp.Diff(map[string]any{"a": i, "sum": i + 1}, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestDocumented compares the list of functions in docs/configuration.md with those that there are.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n> `abs`")
	list, _, _ = strings.Cut("> `abs`"+list, "\n\n")
	var got []string
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		got = append(got, name[1])
	}
	if diff := cmp.Diff(jq.Functions(), got); diff != "" {
		t.Errorf("docs/configuration.md (-is +documented):\n%s", diff)
	}
}
