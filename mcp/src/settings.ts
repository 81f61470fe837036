import { parseArgs } from 'node:util';
import { DEFAULT_URL } from '../../cli/src/context.ts';
import { configFolder } from '../../cli/src/sign-ins.ts';

/** The settings of one server, from the environment and the command line. */
export type Settings = {
  /** The address of the payment API, without a slash at its end. */
  baseUrl: string;
  /** A delegate key. It appears in no answer and no log. */
  key: string;
  /** A payment above it is shown to the person first. USDC micro-units; null: none is. */
  askAboveMicro: bigint | null;
  /** Which addresses besides public ones a tool may call. */
  reach: 'public' | 'loopback' | 'private';
  /** Of payments that are not delivered yet. The command `quittance` uses the same one. */
  folder: string;
  /** Null: stdio. */
  http: { port: number; token: string } | null;
};

const DEFAULT_PORT = 8403;
const SHORTEST_TOKEN = 16;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export const USAGE = `Usage: quittance-mcp [--http] [--port 8403]

An MCP server that pays for API calls. It speaks MCP on stdin and stdout, or with --http as
streamable HTTP on 127.0.0.1.

  QUITTANCE_KEY            a delegate key (dk_test_… or dk_live_…), required
  QUITTANCE_URL            the payment API, default ${DEFAULT_URL}
  QUITTANCE_ASK_ABOVE      micro-units; the person is asked before a payment above it
  QUITTANCE_ALLOW_PRIVATE  1: tools may call addresses of private networks
  QUITTANCE_MCP_TOKEN      the bearer token of --http, at least ${SHORTEST_TOKEN} characters
`;

/** A setting that is missing or invalid. The message names it, and never contains its value. */
export class SettingsError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const urlOf = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new SettingsError('QUITTANCE_URL must be an http(s) address without a query.');
  return url;
};

const microOf = (text: string | undefined): bigint | null => {
  if (text === undefined || text === '') return null;
  if (!/^[0-9]{1,19}$/.test(text))
    throw new SettingsError('QUITTANCE_ASK_ABOVE must be USDC micro-units: 1000000 is 1 USDC.');
  return BigInt(text);
};

const httpOf = (port: string | undefined, token: string | undefined): Settings['http'] => {
  if (port !== undefined && !/^[0-9]{1,5}$/.test(port)) throw new SettingsError('--port must be a number.');
  if (token === undefined || token.length < SHORTEST_TOKEN)
    throw new SettingsError(
      `--http needs QUITTANCE_MCP_TOKEN with at least ${SHORTEST_TOKEN} characters. Clients send it as "Authorization: Bearer …".`,
    );
  return { port: port === undefined ? DEFAULT_PORT : Number(port), token };
};

/**
 * Reads the settings. Null: only the usage is wanted.
 * @throws SettingsError
 */
export const readSettings = (args: string[], env: Environment): Settings | null => {
  let options: { http?: boolean; port?: string; help?: boolean };
  try {
    const allowed = {
      http: { type: 'boolean' },
      port: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    options = parseArgs({ args, options: allowed }).values;
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
  if (options.help === true) return null;
  const key = env.QUITTANCE_KEY ?? '';
  if (!/^dk_(test|live)_/.test(key))
    throw new SettingsError('QUITTANCE_KEY must be a delegate key (dk_test_… or dk_live_…).');
  const url = urlOf(env.QUITTANCE_URL ?? DEFAULT_URL);
  const isLocal = LOOPBACK.test(url.hostname);
  return {
    baseUrl: url.href.replace(/\/+$/, ''),
    key,
    askAboveMicro: microOf(env.QUITTANCE_ASK_ABOVE),
    reach: env.QUITTANCE_ALLOW_PRIVATE === '1' ? 'private' : isLocal ? 'loopback' : 'public',
    folder: configFolder(env),
    http: options.http === true ? httpOf(options.port, env.QUITTANCE_MCP_TOKEN) : null,
  };
};
