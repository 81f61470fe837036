import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { Client } from '../../../sdk/src/client.ts';
import type { PayingFetch } from '../../../sdk/src/pay/main.ts';
import type { PaidResult, ToolCall, ToolPayInit } from '../../../sdk/src/pay/tools.ts';
import { refusalOf, refuseWith } from '../answers.ts';
import type { Asking } from '../asking.ts';
import type { Settings } from '../settings.ts';

/** Another MCP server, and how it is called. */
type ToolServer = { url: string; headers: Record<string, string>; signal: AbortSignal };

/** What the tools of one server share. */
export type Tools = {
  client: Client;
  settings: Pick<Settings, 'maxAmountMicro' | 'maxPerDayMicro' | 'askAboveMicro'>;
  pay: (...call: Parameters<PayingFetch>) => Promise<Response>;
  /** Calls a tool of another MCP server, and pays if it asks for it. */
  payTool: (server: ToolServer, call: ToolCall, init: ToolPayInit) => Promise<PaidResult<CallToolResult>>;
  /** A fetch that reads the price of a 402 and pays nothing. @throws PriceError */
  ask: PayingFetch;
  asking: Asking;
};

/** Adds a tool to a server. */
export type Register = (server: McpServer, tools: Tools) => void;

/** The result of a read of the API, or its refusal. */
export const answering = async (read: () => Promise<CallToolResult>): Promise<CallToolResult> => {
  try {
    return await read();
  } catch (error) {
    return refuseWith(refusalOf(error));
  }
};
