// A client of the TypeScript SDKs: `typescript_client.mjs FOLDER_OF_MODULES sdk|client COMMAND [ARGUMENT...]`.
//
// It starts the gateway as an application does, searches, calls what it found as the answer says, and writes
// what it saw as one line of JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, generation, command, ...args] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const names = {
  sdk: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  client: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
}[generation];
const { Client } = await load(names[0]);
const { StdioClientTransport } = await load(names[1]);

const client = new Client({ name: "typescript", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" }));
const { tools } = await client.listTools();
const query = { name: "discover_capabilities", arguments: { query: "find a book by its title" } };
const found = JSON.parse((await client.callTool(query)).content[0].text);
const hit = found.capabilities[0];
const called = await client.callTool({
  name: hit.use,
  arguments: { id: hit.id, arguments: { title: "Emma", year: 1815 } },
});
const { prompts } = await client.listPrompts();
console.log(
  JSON.stringify({
    instructions: client.getInstructions(),
    tools: tools.map((tool) => tool.name),
    loaded: tools.filter((tool) => tool._meta?.["anthropic/alwaysLoad"]).map((tool) => tool.name),
    hit: hit.id,
    answer: called.content[0].text,
    prompts: prompts.map((prompt) => prompt.name),
  }),
);
await client.close();
