import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ToolCall } from '../../sdk/src/pay/tools.ts';
import type { Fetch } from '../../sdk/src/transport.ts';

/** Calls of the tools of other MCP servers. */

type Server = { url: string; headers: Record<string, string>; signal: AbortSignal };
type Result = Awaited<ReturnType<Client['callTool']>>;

/** Longer than any tool and its payment. The signal of the call ends it sooner. */
const LONGEST_MS = 300_000;

/**
 * Connects to an MCP server by streamable HTTP, through the fetch that decides which addresses may
 * be called, and runs `use` with a function that calls its tools.
 */
export const withToolsOf = async <T>(
  fetch: Fetch,
  { url, headers, signal, version }: Server & { version: string },
  use: (callTool: (call: ToolCall) => Promise<Result>) => Promise<T>,
): Promise<T> => {
  const client = new Client({ name: 'quittance', version });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: fetch as unknown as typeof globalThis.fetch,
    requestInit: { headers },
  });
  try {
    await client.connect(transport, { signal, timeout: LONGEST_MS });
    return await use((call) => client.callTool(call, { signal, timeout: LONGEST_MS }));
  } finally {
    await client.close().catch(() => undefined);
  }
};
