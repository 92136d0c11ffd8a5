package config_test

import (
	"errors"
	"strings"
	"testing"

	"unitask/internal/config"
)

func TestErrors(t *testing.T) {
	const pasted = "sk-proj-abcdefghijklmnop"
	tests := []struct {
		name, text string
		want       []string // each error without the folder, with its hint
	}{
		{"an unknown member", "lisen: x\n", []string{"unitask.yaml:1:1: lisen is no setting | did you mean listen?"}},
		{"an unknown member within", "limits:\n  bodi: 1\n", []string{"unitask.yaml:2:3: limits.bodi is no setting | did you mean body?"}},
		{"a wrong type", "limits: {queue: many}\n", []string{"unitask.yaml:1:17: limits.queue must be a whole number from 0 up"}},
		{"a fraction", "limits: {queue: 1.5}\n", []string{"unitask.yaml:1:17: limits.queue must be a whole number"}},
		{"a small database", "limits: {database: 1MiB}\n", []string{"limits.database must be 16MiB or more, or 0 for no limit"}},
		{"a negative number", "limits: {queue: -1}\n", []string{"unitask.yaml:1:17: limits.queue must be a whole number"}},
		{"a quoted number", "limits: {queue: '5'}\n", []string{"unitask.yaml:1:17: limits.queue must be a whole number"}},
		{"a number for a text", "data_dir: 5\n", []string{`unitask.yaml:1:11: data_dir must be text | put it into quotes: "5"`}},
		{"a list for a text", "data_dir: [a]\n", []string{"unitask.yaml:1:11: data_dir must be a single value"}},
		{"a text for a list", "suppliers: a\n", []string{"unitask.yaml:1:12: suppliers must be a list"}},
		{"a text for a mapping", "limits: a\n", []string{"unitask.yaml:1:9: limits must hold members"}},
		{"nothing", "listen:\n", []string{"listen has no value"}},
		{"a doubled member", "listen: a:1\nlisten: b:1\n", []string{"unitask.yaml:2:1: is no YAML: mapping key \"listen\" already defined"}},
		{"no YAML", "listen: 'x\n", []string{"unitask.yaml:1:9: is no YAML"}},
		{"two documents", "listen: a:1\n---\nlisten: b:1\n", []string{"unitask.yaml: holds more than one YAML document"}},
		{"an anchor", "listen: &a x:1\n", []string{"listen uses a YAML anchor"}},
		{"a list at the top", "- a\n", []string{"must hold members"}},
		{"a bad duration", "limits: {retention: soon}\n", []string{"unitask.yaml:1:21: limits.retention must be a duration"}},
		{"a bad size", "limits: {body: 1XB}\n", []string{"unitask.yaml:1:16: limits.body must be a number of bytes"}},
		{"a wait too long", "limits: {sync_wait: 2m}\n", []string{"unitask.yaml:1:21: limits.sync_wait must be 1m or less"}},
		{"an address without a port", "listen: localhost\n", []string{"unitask.yaml:1:9: listen must be host:port"}},
		{"usage by what can be no name", "usage_metadata: [team, te am]\n", []string{"unitask.yaml:1:24: usage_metadata[1] must have a name of the characters A to Z, a to z, 0 to 9, _ and -"}},
		{"usage by a name twice", "usage_metadata: [team, team]\n", []string{"unitask.yaml:1:24: usage_metadata[1] is given more than once"}},
		{"usage by too many names", "usage_metadata: [a, b, c, d, e]\n", []string{"unitask.yaml:1:30: usage_metadata[4] is one name more than the 4 that may be given"}},
		{"another door", "doors: [opnai]\n", []string{"unitask.yaml:1:9: doors[0] names no door | did you mean openai?"}},
		{
			"a model of no capability", "door_models: {text.chad: [gpt-5]}\n",
			[]string{"unitask.yaml:1:26: door_models.text.chad is no capability | did you mean text.chat?"},
		},
		{
			"models that mean two things", "door_models:\n  text.chat: [gpt-5, image.edit, a b]\n  image.edit: [gpt-5, image, image]\n",
			[]string{
				"unitask.yaml:2:22: door_models.text.chat[1] is the name of a capability",
				"unitask.yaml:2:34: door_models.text.chat[2] must be a word of at most 128 bytes",
				"unitask.yaml:3:30: door_models.image.edit[2] stands twice for the same work | it is image.edit's already",
			},
		},
		{"another store", "store: mysql://x\n", []string{"unitask.yaml:1:8: store must be bolt or the address of a PostgreSQL database"}},
		{"a key's password", "store: postgres://u@h/d?sslpassword=hidden\n", []string{"unitask.yaml:1:8: store holds a password"}},
		{"a database's password", "store: postgres://u:hidden@h/d\n", []string{"unitask.yaml:1:8: store holds a password"}},
		{"another place of artifacts", "artifacts: ftp://x\n", []string{"unitask.yaml:1:12: artifacts must be file or an address that begins with s3:// | for example"}},
		{"no bucket", "artifacts: s3://\n", []string{"unitask.yaml:1:12: artifacts names no bucket"}},
		{
			"an unknown parameter", "artifacts: s3://media?acl=x\n",
			[]string{`unitask.yaml:1:12: artifacts has the unknown parameter "acl"; known: endpoint, path_style, region`},
		},
		{
			"credentials of a bucket", "artifacts: s3://key:" + pasted + "@media\n",
			[]string{"unitask.yaml:1:12: artifacts must hold no key and no secret: AWS_ACCESS_KEY_ID"},
		},
		{
			"a key in clear", "suppliers:\n  - {name: a, kind: openai, base_url: http://x, api_key: " + pasted + "}\n",
			[]string{"unitask.yaml:2:58: suppliers[0].api_key names no secret: a secret is named by a reference, never written out | write env:NAME"},
		},
		{
			"an unknown kind", "suppliers:\n  - {name: a, kind: opnai, base_url: http://x}\n",
			[]string{"unitask.yaml:2:21: suppliers[0].kind is no kind of supplier | did you mean openai?"},
		},
		{
			"an unknown transport", "suppliers:\n  - {name: a, kind: openai, base_url: http://x, transport: quic}\n",
			[]string{"unitask.yaml:2:60: suppliers[0].transport must be direct or standard"},
		},
		{
			"an unknown capability", "deadlines:\n  text.chad: 1m\n",
			[]string{"unitask.yaml:2:14: deadlines.text.chad is no capability | did you mean text.chat?"},
		},
		{
			"a rule that is no pattern", "policy:\n  rules:\n    - {pattern: '(a'}\n    - {name: x}\n",
			[]string{"unitask.yaml:3:17: policy.rules[0].pattern is no regular expression: missing closing )"},
		},
		{
			"a rule for everything", "policy: {rules: [{pattern: '.*'}]}\n",
			[]string{"unitask.yaml:1:28: policy.rules[0].pattern matches an empty text, and so would refuse every request"},
		},
		{
			"rules that don't fit", "policy:\n  rules:\n    - {name: x}\n    - {pattern: a, capabilities: [text.*, txt.*]}\n",
			[]string{
				"unitask.yaml:3:7: policy.rules[0].pattern is required",
				"unitask.yaml:4:43: policy.rules[1].capabilities[1] means no capability | known: ",
			},
		},
		{
			"a moderation without a supplier", "policy:\n  moderation: {on_failure: allow}\n",
			[]string{"unitask.yaml:2:15: policy.moderation needs a supplier | one of kind openai"},
		},
		{
			"a moderation by nobody", "policy:\n  moderation: {supplier: opnai}\n",
			[]string{"unitask.yaml:2:26: policy.moderation.supplier names no supplier | did you mean openai?"},
		},
		{
			"a moderation by who can't", "policy: {moderation: {supplier: anthropic}}\n",
			[]string{"unitask.yaml:1:33: policy.moderation.supplier can't be asked: its kind anthropic has no moderation | one of kind openai"},
		},
		{
			"a moderation that may fail somehow", "policy: {moderation: {supplier: openai, on_failure: shrug}}\n",
			[]string{"unitask.yaml:1:53: policy.moderation.on_failure must be refuse or allow"},
		},
		{
			"voices of a text", "suppliers: [{name: a, kind: openai, base_url: http://x}]\nroutes:\n  text.chat: [{supplier: a, model: m, price: {unit: mtok}, voices: [nova]}]\n",
			[]string{"unitask.yaml:3:68: routes.text.chat[0].voices belong to routes of audio.speech"},
		},
		{
			"a unit in which nothing is counted", "suppliers: [{name: a, kind: openai, base_url: http://x}]\nroutes:\n  text.chat: [{supplier: a, model: m, price: {unit: image}}]\nprices: {text.embed: {unit: second}}\n",
			[]string{
				"unitask.yaml:3:53: routes.text.chat[0].price.unit is none that text.chat is counted in | with it the work would be free",
				"unitask.yaml:4:29: prices.text.embed.unit is none that text.embed is counted in",
			},
		},
		{"a moderation by the second", "policy: {moderation: {supplier: openai, price: {unit: second}}}\n", []string{"policy.moderation.price.unit must be mtok, mchar or request"}},
		{
			"rates of a price",
			"prices:\n  text.chat: {unit: mtok, input: 2, output: 10, cached_input: 0.2, search: 0.01, request: 0}\n" +
				"  text.embed: {unit: request, input: 1, cached_input: 1, request: 1, page: 1}\n" +
				"  image.generate: {unit: image, output: 1, image_output: 1, search: 1}\n" +
				"policy: {moderation: {supplier: openai, model: m, price: {unit: mtok, request: 1, search: 1}}}\n",
			[]string{
				"prices.text.embed.cached_input is a price of tokens", "prices.text.embed.request is the price's own unit",
				"prices.text.embed.page is nothing that text.embed is counted in",
				"prices.image.generate.image_output is a price of tokens", "prices.image.generate.search is nothing that image.generate is counted in",
				"policy.moderation.price.search isn't counted in questions about content",
			},
		},
		{"all at once", `
suppliers:
  - {name: a, kind: openai, base_url: ftp://x}
  - {name: a, kind: openai, base_url: http://user@x}
routes:
  text.chat:
    - {supplier: b, model: m, price: {unit: mtok, input: "0.0000000001"}}
  image.generate:
    - {supplier: a, model: "", price: {unit: pixel}}
`, []string{
			"unitask.yaml:7:58: routes.text.chat[0].price.input must be an amount in USD",
			"unitask.yaml:9:46: routes.image.generate[0].price.unit must be mtok, image, second, mchar, page, request or search",
		}},
		{"all that doesn't fit", `
suppliers:
  - {name: a, kind: openai, base_url: ftp://x}
  - {name: a, kind: openai, base_url: http://user@x}
routes:
  text.chat:
    - {supplier: b, model: m, price: {unit: mtok}}
    - {supplier: a, model: m}
    - {supplier: a, model: m, price: {unit: mtok}}
  image.generate:
    - {supplier: a, model: "", price: {unit: image}}
  text.chit: []
`, []string{
			"unitask.yaml:3:39: suppliers[0].base_url must be an http or https address",
			"unitask.yaml:4:12: suppliers[1].name names a second supplier",
			"unitask.yaml:4:39: suppliers[1].base_url must be",
			"unitask.yaml:7:18: routes.text.chat[0].supplier names no supplier | did you mean a?",
			"unitask.yaml:8:7: routes.text.chat[1].price is required",
			"unitask.yaml:9:7: routes.text.chat[2] stands twice",
			"unitask.yaml:11:18: routes.image.generate[0].supplier can't serve image.generate",
			"unitask.yaml:11:28: routes.image.generate[0].model is required",
			"unitask.yaml:12:14: routes.text.chit is no capability",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, config.Sources{}, tt.text)
			all, ok := errors.AsType[config.Errors](err)
			if !ok || len(all) != len(tt.want) {
				t.Fatalf("got %v, want %d errors", err, len(tt.want))
			}
			for i, e := range all {
				if got := e.Error() + " | " + e.Hint; !matches(got, tt.want[i]) {
					t.Errorf("got  %s\nwant %s", got, tt.want[i])
				}
			}
			if strings.Contains(err.Error(), pasted) {
				t.Error("the error repeats the key")
			}
		})
	}
}

// matches reports whether the parts of want, between bars, stand in got in this order.
func matches(got, want string) bool {
	for part := range strings.SplitSeq(want, " | ") {
		_, after, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = after
	}
	return true
}

func TestErrorsOfVariablesAndFlags(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"UNITASK_STORE": "tape", "UNITASK_METRICS_LISTEN": "x"}[name]
	}
	_, err := load(t, config.Sources{Getenv: env, Flags: map[string]string{"listen": "x"}}, "key_prefix: A\n")
	for _, want := range []string{"UNITASK_STORE: store must be bolt", "--listen: listen must be host:port", "UNITASK_METRICS_LISTEN: metrics_listen must be host:port", "unitask.yaml:1:13: key_prefix must"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q isn't in %v", want, err)
		}
	}
}
