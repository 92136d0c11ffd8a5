// Package node puts one node of the service together from its settings: the store, the artifacts, the suppliers and
// their routes, the gateway, the API, the console and the operator's socket. It starts them, has them take up changed
// settings, and stops them. It leaves flags, signals that end the process and the text on the terminal to the command.
//
// A Node is made by Open, serves between Start and Stop, and is safe for concurrent use in between.
package node
