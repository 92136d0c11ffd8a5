package main

import (
	"unitask/internal/client"

	"github.com/spf13/cobra"
)

// The texts of the help's topics, which the manual page has too.
const (
	topicExit = `  0    it worked
  1    any other error
  2    the command line, or a value on it
  3    the task failed, or was canceled
  4    the key: there is none, or it isn't taken
  5    not found: a task, or an entry of the journal
  6    rate or capacity: try again later
  7    the wait timed out; the task goes on
  8    the service can't be reached
  130  interrupted; the task goes on
  143  terminated; the task goes on`

	topicEnvironment = `UNITASK_BASE_URL and UNITASK_PROFILE: which service to call.

UNITASK_API_KEY: the key, after --api-key-file and before the keyring. UNITASK_OPERATOR_KEY: that of operator's commands, for
a base URL. UNITASK_PASSPHRASE: the passphrase of the file that keeps keys where there is no keyring.

UNITASK_CONFIG_DIR and UNITASK_STATE_DIR: the client's folders. UNITASK_DATA_DIR and UNITASK_CONFIG: the server's data folder
and settings.

UNITASK_IMAGES: how this terminal shows pictures: kitty, iterm2, sixel or none.

UNITASK_BOOTSTRAP_KEY: a full key that a server accepts from its first start on. UNITASK_BACKUP_KEY_FILE: the file of the key
that seals backups.

In place of the settings of their names, which "unitask config show" lists: UNITASK_LISTEN, UNITASK_METRICS_LISTEN,
UNITASK_PUBLIC_URL, UNITASK_NODE_URL, UNITASK_STORE, UNITASK_ARTIFACTS, UNITASK_KEY_PREFIX, UNITASK_OPERATOR_API,
UNITASK_MCP_HTTP, UNITASK_DOORS, UNITASK_WEBHOOKS and UNITASK_WEBHOOK_HTTP.

NO_COLOR: no colours.`

	topicProfiles = `A profile is a name for a service's URL, and its key in the keyring: "unitask login --profile work --base-url URL".
The first one becomes the default; "unitask profiles use NAME" chooses another, --profile and UNITASK_PROFILE for one command.

Which service is called: that of --profile, --base-url or --data-dir; then of UNITASK_PROFILE, UNITASK_BASE_URL or
UNITASK_DATA_DIR; then of the profile in use; else ` + client.DefaultBaseURL + `. Which key: --api-key-file, then UNITASK_API_KEY,
then the profile's. "unitask whoami" says which they are.`

	topicOutput = `Results go to stdout, all else to stderr. On a terminal lists are tables; in a pipe their columns stand between tabs,
without a header. --json prints JSON, and --jq the part that an expression selects. --format gives json, jsonl, yaml, and of
lists also table and csv.

run and tasks get save results with -o: a file, a folder that ends with /, NAME.* for the suffix that fits, or - for stdout.
Without -o a text is printed, and files are named with their addresses.`
)

// topics are helps about no command: "unitask help NAME" shows them.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "The variables that commands read", Long: topicEnvironment},
		{Use: "exit-codes", Short: "How a command says the way it ended", Long: topicExit},
		{Use: "service-and-key", Short: "Which service a command calls, with which key", Long: topicProfiles},
		{Use: "output", Short: "Tables, JSON, jq and files", Long: topicOutput},
	}
}
