// A client of version 1 of the MCP SDK, over stdio. It calls the tools that its settings name.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { print, settings } from '../program.mjs';

const { command, args, env, calls } = settings();
const client = new Client({ name: 'client-v1', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }));
const { tools } = await client.listTools();
print({ ready: true });
print({ index: 0, tools: tools.map(({ name }) => name) });
for (const [number, call] of calls.entries()) print({ index: number + 1, ...(await client.callTool(call)) });
await client.close();
