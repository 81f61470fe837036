import { parseArgs } from 'node:util';
import { DEFAULT_URL } from '../../cli/src/context.ts';
import { configFolder } from '../../cli/src/sign-ins.ts';
import { checkKey, checkWholeKey } from '../../sdk/src/credential-kind.ts';
import { displayUsdc } from '../../sdk/src/generated/usdc.ts';
import { MOST_WINDOW_SECONDS } from '../../sdk/src/pay/base/rules.ts';
import { microOfUsdc, usdcFault } from './amounts.ts';

/** The settings of one server, from the environment and the command line. */
export type Settings = {
  /** The address of the payment API, without a slash at its end. */
  baseUrl: string;
  /** A delegate key. It appears in no answer and no log. */
  key: string;
  /** The maximum of one payment, whatever a model asks for. USDC micro-units, as are the others. */
  maxAmountMicro: bigint;
  /** The maximum of all payments of the key on a UTC day. */
  maxPerDayMicro: bigint;
  /** The most seconds for which a vendor that is paid for what was used may hold the money. */
  maxWindowSeconds: number;
  /** A payment above it is shown to the person first. */
  askAboveMicro: bigint;
  /** Payees (addresses and origins) that are trusted without asking. */
  payees: 'any' | readonly string[];
  /** True: a key that has no limit may pay. */
  allowsUnlimited: boolean;
  /**
   * Which addresses a tool may call besides the API: public ones, also these (`host:port`), or also
   * all private ones.
   */
  reach: 'public' | 'private' | readonly string[];
  /** Of payments that are not delivered yet. The command `quittance` uses the same one. */
  folder: string;
  /** Null: stdio. */
  http: { port: number; token: string } | null;
};

const DEFAULT_PORT = 8403;
const SHORTEST_TOKEN = 16;
/** Small, because a model decides. 1 USDC a payment, 5 USDC a day, a question above 0.10 USDC. */
const DEFAULT_MICRO = {
  QUITTANCE_MAX_AMOUNT: 1_000_000n,
  QUITTANCE_MAX_PER_DAY: 5_000_000n,
  QUITTANCE_ASK_ABOVE: 100_000n,
};

export const USAGE = `Usage: quittance-mcp [--http] [--port 8403]

An MCP server that pays for API calls. It speaks MCP on stdin and stdout, or with --http as
streamable HTTP on 127.0.0.1.

  DELEGATE_KEY             a delegate key (dk_test_… or dk_live_…), required; QUITTANCE_KEY is read, too
  QUITTANCE_URL            the payment API, default ${DEFAULT_URL}
  QUITTANCE_MAX_AMOUNT     the most of one payment, default ${displayUsdc(DEFAULT_MICRO.QUITTANCE_MAX_AMOUNT)}
  QUITTANCE_MAX_PER_DAY    the most that the key pays on a UTC day, default ${displayUsdc(DEFAULT_MICRO.QUITTANCE_MAX_PER_DAY)}
  QUITTANCE_MAX_WINDOW     the most seconds for which a vendor that is paid for what was used may hold the
                           money, default ${MOST_WINDOW_SECONDS}
  QUITTANCE_ASK_ABOVE      the person is asked before a payment above it, default ${displayUsdc(DEFAULT_MICRO.QUITTANCE_ASK_ABOVE)}
                           (amounts are like $0.50, 0.50 or "0.50 USDC")
  QUITTANCE_PAYEES         origins and addresses whose first payment needs no question, or "any"
  QUITTANCE_ALLOW_UNLIMITED  1: the key may have no limit
  QUITTANCE_ALLOW_PRIVATE  host:port of this machine or a private network that tools may call, or 1: all
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

const microOf = (env: Environment, name: keyof typeof DEFAULT_MICRO): bigint => {
  const text = env[name];
  if (text === undefined || text === '') return DEFAULT_MICRO[name];
  const fault = usdcFault(text);
  if (fault !== null) throw new SettingsError(`${name}: ${fault}.`);
  return microOfUsdc(text);
};

const windowOf = (text = ''): number => {
  if (text === '') return MOST_WINDOW_SECONDS;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new SettingsError('QUITTANCE_MAX_WINDOW must be a whole number of seconds, at least 1.');
  return Number(text);
};

/** A delegate key in its form, with its checksum. The API is not asked. */
const keyOf = ({ DELEGATE_KEY, QUITTANCE_KEY }: Environment): string => {
  const isOld = (DELEGATE_KEY ?? '') === '' && (QUITTANCE_KEY ?? '') !== '';
  const [name, key] = isOld ? ['QUITTANCE_KEY', QUITTANCE_KEY!] : ['DELEGATE_KEY', DELEGATE_KEY ?? ''];
  try {
    checkKey(name, key, 'delegate key');
    checkWholeKey(name, key);
    return key;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}.`);
  }
};

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

const HOST_AND_PORT = /^([\w.-]+|\[[0-9a-f:]+\]):\d{1,5}$/;

const reachOf = (text = ''): Settings['reach'] => {
  if (text === '1') return 'private';
  const named = listOf(text);
  if (!named.every((each) => HOST_AND_PORT.test(each)))
    throw new SettingsError(
      'QUITTANCE_ALLOW_PRIVATE must be hosts with ports like 127.0.0.1:8080, separated by commas, or 1.',
    );
  return named.length === 0 ? 'public' : named;
};

const payeesOf = (text = ''): Settings['payees'] => {
  const named = listOf(text);
  if (named.length === 1 && named[0] === 'any') return 'any';
  return named.map((each) => {
    if (ADDRESS.test(each)) return each;
    const origin = /^https?:/.test(each) ? URL.parse(each)?.origin : undefined;
    if (origin === undefined || origin !== each.replace(/\/$/, ''))
      throw new SettingsError(
        'QUITTANCE_PAYEES must be origins like https://api.example.com and addresses of Solana, separated by commas, or "any".',
      );
    return origin;
  });
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
  const key = keyOf(env);
  const url = urlOf(env.QUITTANCE_URL ?? DEFAULT_URL);
  return {
    baseUrl: url.href.replace(/\/+$/, ''),
    key,
    maxAmountMicro: microOf(env, 'QUITTANCE_MAX_AMOUNT'),
    maxPerDayMicro: microOf(env, 'QUITTANCE_MAX_PER_DAY'),
    maxWindowSeconds: windowOf(env.QUITTANCE_MAX_WINDOW),
    askAboveMicro: microOf(env, 'QUITTANCE_ASK_ABOVE'),
    payees: payeesOf(env.QUITTANCE_PAYEES),
    allowsUnlimited: env.QUITTANCE_ALLOW_UNLIMITED === '1',
    reach: reachOf(env.QUITTANCE_ALLOW_PRIVATE),
    folder: configFolder(env),
    http: options.http === true ? httpOf(options.port, env.QUITTANCE_MCP_TOKEN) : null,
  };
};
