// Package jq runs small jq programs on JSON values, within bounds of steps, bytes and time: a supplier's map may hold
// such programs, and both they and the supplier's answers may be wrong or hostile.
//
// The language is gojq's. That has no bounds of memory: one addition may double a text, one native call may walk a
// value that is shared a billion times. So Compile allows the functions of a list alone, and no definitions,
// assignments and modules, and it rewrites the program: in front of each operation whose work grows with its operands it
// puts a function that charges the size of these to a meter. The meter is the context of the run as well, which gojq
// asks before each instruction: it counts these, and ends the run when it is overdrawn. A program can't catch that.
//
// Programs have no environment, no clock, no input but their own, and no effect but their result.
//
// Invariants: a run ends after at most Steps instructions, and the values that it makes take a small multiple of Bytes
// and Steps of memory; no error quotes a value that a program worked on.
package jq
