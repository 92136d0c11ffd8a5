package mcp

// For the tests of what no client sees whole.
var (
	ToolSchema = toolSchema
	ToolNames  = toolNames
)
