import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** One call of curl, as its command line says. */
export type CurlCall = { method: string; url: string; headers: Record<string, string>; body: string | null };

/** A shell reads the commands, so their quotes count. Its `curl` prints the arguments. */
const PRINTER = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }`;
const END = '\n';

const callOf = (args: string[]): CurlCall => {
  const call: CurlCall = { method: 'GET', url: '', headers: {}, body: null };
  let method: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const option = args[at]!;
    if (!option.startsWith('-')) {
      if (call.url !== '') throw new Error(`curl gets two addresses: ${call.url} and ${option}`);
      call.url = option;
      continue;
    }
    const value = args[++at] ?? '';
    if (option === '--request') method = value;
    else if (option === '--data') call.body = value;
    else if (option === '--header') {
      const [name, ...rest] = value.split(': ');
      call.headers[name!.toLowerCase()] = rest.join(': ');
    } else throw new Error(`unexpected option of curl: ${option}`);
  }
  return { ...call, method: method ?? (call.body === null ? 'GET' : 'POST') };
};

/**
 * The calls that commands of curl make, without making them.
 * @param env the variables that the commands use
 * @throws Error if a shell cannot read them
 */
export const readCurl = async (commands: string[], env: Record<string, string> = {}): Promise<CurlCall[]> => {
  const { stdout } = await run('sh', ['-euc', [PRINTER, ...commands].join('\n')], {
    env,
    maxBuffer: 10_000_000,
  });
  const calls: string[][] = [[]];
  for (const text of stdout.split('\0').slice(0, -1)) {
    if (text === END) calls.push([]);
    else calls.at(-1)!.push(text);
  }
  return calls.slice(0, -1).map(callOf);
};
