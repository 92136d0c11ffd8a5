package mcp

// For tests of internals.
var (
	ToolSchema = toolSchema
	ToolNames  = toolNames
)
