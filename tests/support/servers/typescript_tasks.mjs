// A client of the TypeScript SDK that makes a call as a task: `typescript_tasks.mjs MODULES COMMAND [ARGUMENT...]`.
//
// It says what its application was told, message by message, as one line of JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, command, ...args] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { CallToolResultSchema } = await load("@modelcontextprotocol/sdk/types.js");

const client = new Client({ name: "typescript", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const { tools } = await client.listTools();
const call = { name: "foundry__cast", arguments: { what: "Ada" } };
const told = [];
for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: { ttl: 60000 } })) {
  told.push(message.type);
  if (message.type === "result") told.push(message.result.content[0].text);
  if (message.type === "error") told.push(String(message.error));
}
const support = Object.fromEntries(tools.filter((tool) => tool.execution).map((tool) => [tool.name, tool.execution.taskSupport]));
const kept = (await client.experimental.tasks.listTasks()).tasks.map((task) => task.status);
console.log(JSON.stringify({ told, support, kept }));
await client.close();
