// Calls a slow tool by the MCP library and prints the progress it heard of and the answer, as JSON:
//   node mcp_progress.mjs NODE_MODULES PROGRAM ARG...
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, command, ...args] = process.argv.slice(2);
const library = (file) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm/client", file)));
const { Client } = await library("index.js");
const { StdioClientTransport } = await library("stdio.js");

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
const progress = [];
const answer = await client.callTool(
  { name: "image_generate", arguments: { input: { prompt: "@slow:5s a fox" }, parameters: { size: "64x64" } } },
  undefined,
  { onprogress: (p) => progress.push(p), resetTimeoutOnProgress: true, timeout: 60_000 },
);
await client.close();
console.log(JSON.stringify({ progress, answer }));
