// Package config is the server's settings: one YAML file, all of it optional, with the environment
// above it and the command line above both.
//
// Decoding is strict: an unknown or doubled member, a value of the wrong type and a reference to
// something that doesn't exist are errors with file, line, column and a hint, and all of them are
// reported at once. The file holds references to secrets, never a secret, so a Config may be
// printed. Whether a supplier answers is not asked here.
package config

import (
	"unitask/internal/catalog"
	"unitask/internal/secret"
)

// Config is every setting, resolved and checked. It is immutable.
type Config struct {
	Listen         string                    `yaml:"listen" env:"UNITASK_LISTEN" default:"127.0.0.1:8420" doc:"host and port of the API"`
	MetricsListen  string                    `yaml:"metrics_listen" env:"UNITASK_METRICS_LISTEN" doc:"host and port of /metrics, for monitoring alone; by default it is on the operator's socket only"`
	BaseURL        string                    `yaml:"base_url" env:"UNITASK_PUBLIC_URL" doc:"where callers reach the API, for the URLs of artifacts; by default http:// and listen"`
	NodeURL        string                    `yaml:"node_url" env:"UNITASK_NODE_URL" doc:"where the other nodes on the same store reach this one, such as http://10.0.0.3:8420, for the text of streams that are read at another node than the one at work; empty: the other nodes can't reach this one"`
	DataDir        string                    `yaml:"data_dir" env:"UNITASK_DATA_DIR" default:"./data" doc:"the folder of the database, the artifacts and the operator's socket"`
	Store          string                    `yaml:"store" env:"UNITASK_STORE" default:"bolt" doc:"where tasks and keys are kept: bolt, a file in data_dir for one node; or the address of a PostgreSQL database for many, postgres://user@host/database without its password, or env:NAME, file:/path or keyring:name of one with it"`
	Artifacts      string                    `yaml:"artifacts" env:"UNITASK_ARTIFACTS" default:"file" doc:"where result files and large inputs are kept: file, a folder in data_dir, or s3://bucket/prefix?region=…&endpoint=…&path_style=true, an object store"`
	KeyPrefix      string                    `yaml:"key_prefix" env:"UNITASK_KEY_PREFIX" default:"svc" doc:"the first part of every API key: lower-case letters and digits"`
	Catalog        []string                  `yaml:"catalog" doc:"files of capabilities that are added to the directory or replace entries; relative to this file"`
	MediaAllow     []string                  `yaml:"media_allow" doc:"hosts (ports 80 and 443), host:port, addresses and CIDRs that callers' URLs may point to although they aren't public"`
	TrustedProxies []string                  `yaml:"trusted_proxies" doc:"addresses and CIDRs of proxies whose X-Forwarded-For, or else Forwarded, says who calls; their connections are not bounded as one address's"`
	OperatorAPI    bool                      `yaml:"operator_api" env:"UNITASK_OPERATOR_API" doc:"whether operator keys open the operator's commands on listen, below /admin/; over TLS through one of trusted_proxies, or from this machine"`
	MCPHTTP        bool                      `yaml:"mcp_http" env:"UNITASK_MCP_HTTP" doc:"whether /mcp on listen offers the capabilities as tools to clients of the Model Context Protocol, by API keys"`
	Doors          []string                  `yaml:"doors" env:"UNITASK_DOORS" doc:"interfaces of others at which programs written for them call this service: openai, at /openai/v1, and anthropic, at /anthropic; in the variable with commas between"`
	DoorModels     map[catalog.Name][]string `yaml:"door_models" doc:"other names of a capability as a model at the doors, such as text.chat: [gpt-5]; a name may be that of several capabilities of different work"`
	UsageMetadata  []string                  `yaml:"usage_metadata" doc:"names of tasks' metadata by which usage is summed too, such as team, for unitask usage --by metadata.team; 4 at most; the first 1000 texts of an account in a month have sums of their own, further ones one together"`
	Webhooks       bool                      `yaml:"webhooks" env:"UNITASK_WEBHOOKS" default:"true" doc:"whether the ends of tasks are sent to the addresses that accounts register"`
	WebhookHTTP    bool                      `yaml:"webhook_http" env:"UNITASK_WEBHOOK_HTTP" doc:"whether these addresses may be http too, which strangers can read on their way"`
	WebhookAllow   []string                  `yaml:"webhook_allow" doc:"hosts (ports 80 and 443), host:port, addresses and CIDRs that may be such an address although they aren't public"`
	Limits         Limits                    `yaml:"limits"`
	Deadlines      map[catalog.Name]Duration `yaml:"deadlines" doc:"how long a task of the capability may take, where the directory's own deadline doesn't suit"`
	Suppliers      []Supplier                `yaml:"suppliers"`
	Routes         map[catalog.Name][]Route  `yaml:"routes" doc:"who may serve each capability"`
	Policy         Policy                    `yaml:"policy"`
	Prices         map[catalog.Name]Price    `yaml:"prices" doc:"what callers pay for a capability; by default what the cheapest approved route costs"`
}

// Limits bound callers and this node; 0 is no limit unless the default is a duration.
type Limits struct {
	Body             Size     `yaml:"body" default:"16MiB" doc:"a request's body"`
	BodyMemory       Size     `yaml:"body_memory" default:"16MiB" doc:"large bodies that are judged at once, in memory; half of it for one account. A body alone may be larger"`
	BodyDisk         Size     `yaml:"body_disk" default:"256MiB" doc:"large bodies that are arriving, in data_dir; an eighth of it for one account"`
	WorkMemory       Size     `yaml:"work_memory" default:"256MiB" doc:"large inputs that are worked on at once, three times their size, in memory; half of it for one account. An input alone may take all of it, and media of a third of it, which is also the largest upload"`
	InlineMedia      Size     `yaml:"inline_media" default:"10MiB" doc:"one media value within a request, decoded"`
	Artifact         Size     `yaml:"artifact" default:"2GiB" doc:"one result file"`
	UploadQuota      Size     `yaml:"upload_quota" default:"2GiB" doc:"the uploads of an account in one mode, open ones and those that are artifacts, each until it expires or is deleted"`
	Database         Size     `yaml:"database" default:"0" doc:"the database file in data_dir; at it new tasks are refused"`
	JSONDepth        int      `yaml:"json_depth" default:"64" doc:"nesting of a request's JSON, 1,000 at most"`
	CreatesPerMinute int      `yaml:"creates_per_minute" default:"600" doc:"creations and lists of one key, whatever its own limit; 0: none"`
	ReadsPerMinute   int      `yaml:"reads_per_minute" default:"2400" doc:"reads of tasks of one key, whatever its own limit; 0: none"`
	OpenTasks        int      `yaml:"open_tasks" default:"64" doc:"unfinished tasks of one key, whatever its own limit; 0: none"`
	Queue            int      `yaml:"queue" default:"100000" doc:"waiting tasks of all accounts together"`
	Workers          int      `yaml:"workers" default:"512" doc:"asynchronous tasks at work on this node at once; jobs between two polls don't count"`
	Takeovers        int      `yaml:"takeovers" default:"5" doc:"how often in a row a task may be taken over after its worker ended in the middle of it"`
	Connections      int      `yaml:"connections" default:"4096" doc:"open connections of callers; requests of one account are under way over half of them at most"`
	PerAddress       int      `yaml:"connections_per_address" default:"1024" doc:"of them from one address, or one IPv6 network of 64 bits"`
	RefusedKeys      int      `yaml:"refused_keys" default:"30" doc:"refused keys of one address in a minute; beyond that each such answer takes a second"`
	Lease            Duration `yaml:"lease" default:"30s" doc:"after how long without a sign of life a node's work passes to another; of no meaning with the store bolt"`
	SyncWait         Duration `yaml:"sync_wait" default:"30s" doc:"how long a creation waits for a synchronous capability where the caller doesn't say; up to 60s"`
	PlaceWait        Duration `yaml:"place_wait" default:"2s" doc:"how long synchronous work waits for a free route"`
	ShutdownGrace    Duration `yaml:"shutdown_grace" default:"20s" doc:"how long synchronous work may go on when the server stops"`
	Retention        Duration `yaml:"retention" default:"30d" doc:"how long a finished task and its idempotency key are kept after the last change"`
	Usage            Duration `yaml:"usage" default:"400d" doc:"how long the sums of a day's usage are kept"`
	RequestLog       Size     `yaml:"request_log" default:"1GiB" doc:"the request log, a folder in data_dir; 0: none is kept"`
	RequestLogAge    Duration `yaml:"request_log_age" default:"30d" doc:"how long the request log keeps a day"`
	ArtifactTTL      Duration `yaml:"artifact_ttl" default:"7d" doc:"how long a result file is kept"`
	URLTTL           Duration `yaml:"url_ttl" default:"1h" doc:"how long a signed URL holds at most"`
}

// Supplier is who does work, and how to reach it.
type Supplier struct {
	Name           string            `yaml:"name" doc:"how routes name it"`
	Kind           string            `yaml:"kind" doc:"its wire format"`
	BaseURL        string            `yaml:"base_url" doc:"the address that its paths are added to"`
	APIKey         secret.Ref        `yaml:"api_key" doc:"where its key is: env:NAME, file:/path or keyring:service/name"`
	Timeout        Duration          `yaml:"timeout" doc:"of one HTTP exchange; of a stream until it begins, then of each pause, a minute at most"`
	MaxConcurrent  int               `yaml:"max_concurrent" doc:"attempts in flight over all its routes; 0: no limit"`
	PerMinute      Rate              `yaml:"per_minute"`
	Transport      Transport         `yaml:"transport" default:"direct" doc:"how its requests are sent: direct, over HTTP/1.1 connections of our own, or standard, by Go's net/http with HTTP/2"`
	MaxTokensField string            `yaml:"max_tokens_field" doc:"max_tokens or max_completion_tokens"`
	ResultHosts    []string          `yaml:"result_hosts" doc:"hosts that its result files may come from without the address guard; by default that of base_url"`
	Models         []string          `yaml:"models" doc:"files of the maps of its models, for the kinds fal, http and replicate, and for chats that do the work of other capabilities; relative to this file"`
	ProxyPassword  secret.Ref        `yaml:"proxy_password" doc:"where the password of options.proxy is, whose address names the user alone"`
	Options        map[string]string `yaml:"options" doc:"what only this kind knows"`
}

// Route is a supplier's model that may serve a capability.
type Route struct {
	Supplier      string   `yaml:"supplier" doc:"the name of a supplier"`
	Model         string   `yaml:"model" doc:"the supplier's own name of the model"`
	Price         Price    `yaml:"price" doc:"what the supplier charges"`
	Approved      bool     `yaml:"approved" default:"true" doc:"whether work may go there"`
	MaxConcurrent int      `yaml:"max_concurrent" doc:"attempts in flight on this route; 0: no limit"`
	PerMinute     Rate     `yaml:"per_minute"`
	Template      int      `yaml:"template_tokens" doc:"tokens that the model's template adds to a request, at most; 0: 128"`
	Voices        []string `yaml:"voices" doc:"of audio.speech: the voices that callers are offered, and the only ones that go there; empty: any"`
}

// Rate is the number of requests and tokens that may begin in any minute on this node.
type Rate struct {
	Requests int `yaml:"requests" doc:"attempts started in any minute; 0: no limit"`
	Tokens   int `yaml:"tokens" doc:"tokens of these, estimated at first and then as measured; 0: no limit"`
}

// The interfaces among Doors.
const (
	DoorOpenAI    = "openai"
	DoorAnthropic = "anthropic"
)

// HasRoutes reports whether the configuration names suppliers or routes of its own; without, those
// found on the machine are used.
func (c Config) HasRoutes() bool { return len(c.Suppliers) > 0 || len(c.Routes) > 0 }
