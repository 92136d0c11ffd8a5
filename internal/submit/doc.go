// Package submit sends tasks so that none is lost and none is paid for twice, whatever happens to this process.
//
// Each request is in the journal of this machine, with its Idempotency-Key, before its first byte is sent, and stays
// there until the task's end is known. The commands, the dashboard and the tools for assistants submit by it. A
// Submission is started here or taken over from a process that left it; Create, Finish, Resume and Retry send the
// request or follow its task, and Settle or SettleAlone decides whether the entry stays.
package submit
