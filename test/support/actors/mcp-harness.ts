import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { listen } from '../../../mcp/src/http.ts';
import { createServers } from '../../../mcp/src/server.ts';
import type { Settings } from '../../../mcp/src/settings.ts';
import { DELEGATE_KEY } from '../base/keys.ts';
import { startHarness } from '../stand-ins/scripted-vendors.ts';

/** The MCP server over HTTP with scripted vendors. The MCP SDK’s unmodified client calls it. */

const TOKEN = 'a bearer token of the test'.replaceAll(' ', '-');
export const ERAS = [['2025-11-25'], ['2026-07-28']] as const;
type Era = (typeof ERAS)[number][0];

type Result = {
  isError?: boolean;
  structuredContent?: Record<string, unknown> & { body: string };
  content: { text: string }[];
};
export type Person = (message: string) => {
  action: 'accept' | 'decline' | 'cancel';
  content?: { pay: boolean };
};

/** Vendors, the API, and servers that pay them with one folder of files. */
export const startMcpHarness = async () => {
  const harness = await startHarness();
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-mcp-'));
  const stops: (() => Promise<void>)[] = [
    async () => rmSync(folder, { recursive: true, force: true }),
    () => harness.stop().then(() => undefined),
  ];

  /** A client of a server with these settings, of one protocol era. By default no one is asked. */
  const connect = async (era: Era, settings: Partial<Settings> = {}, person?: Person) => {
    const own = {
      ...{ baseUrl: harness.api.baseUrl, key: DELEGATE_KEY, folder },
      ...{ maxAmountMicro: 10_000n, maxPerDayMicro: 100_000n, askAboveMicro: 10_000n },
      maxWindowSeconds: 86_400,
      // The vendors are on loopback.
      ...{ payees: 'any' as const, allowsUnlimited: false, reach: 'private' as const },
    };
    const errors: string[] = [];
    const { create, close } = createServers({ ...own, ...settings }, '1.2.3');
    const server = await listen(create, { port: 0, token: TOKEN }, ({ message }) => errors.push(message));
    stops.push(close);
    stops.push(server.stop);
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: person === undefined ? {} : { elicitation: {} },
        versionNegotiation: { mode: era === '2025-11-25' ? 'legacy' : { pin: era } },
      },
    );
    if (person !== undefined)
      client.setRequestHandler('elicitation/create', async ({ params }) => person(params.message) as never);
    const headers = { authorization: `Bearer ${TOKEN}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }),
    );
    stops.push(() => client.close());
    const call = async (name: string, args: object) =>
      (await client.callTool({ name, arguments: args as Record<string, unknown> })) as unknown as Result;
    const refused = async (name: string, args: object) => {
      const result = await call(name, args);
      expect(result.isError).toBe(true);
      expect(result.structuredContent).toBeUndefined();
      return (JSON.parse(result.content[0]!.text) as { error: Record<string, unknown> }).error;
    };
    return { client, call, refused, errors };
  };
  return {
    harness,
    connect,
    stop: async () => {
      for (const stop of stops.reverse()) await stop();
    },
  };
};
export type McpHarness = Awaited<ReturnType<typeof startMcpHarness>>;
