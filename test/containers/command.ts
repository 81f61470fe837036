import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';

const SHOWN_LINES = 15;

type Options = { env?: NodeJS.ProcessEnv; cwd?: string; log?: string; echo?: boolean };

/**
 * Runs a command and returns what it wrote to its standard output.
 * @param options `log`: a file that all output is appended to; `echo`: all output is printed, too
 * @throws if the exit code is not 0, with the last lines of the output
 */
export const run = async (
  command: string,
  args: readonly string[],
  { env = process.env, cwd, log, echo = false }: Options = {},
): Promise<string> => {
  const child = spawn(command, args, {
    env,
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, all] = ['', ''];
  const add = (chunk: Buffer, isError: boolean) => {
    if (!isError) output += chunk.toString();
    all += chunk.toString();
    if (log !== undefined) appendFileSync(log, chunk);
    if (echo) process.stdout.write(chunk);
  };
  child.stdout.on('data', (chunk: Buffer) => add(chunk, false));
  child.stderr.on('data', (chunk: Buffer) => add(chunk, true));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === 0) return output;
  const end = echo ? '' : `:\n${all.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')}`;
  throw new Error(`${[command, ...args].join(' ').slice(0, 200)} ended with ${code ?? signal}${end}`);
};

/** Whether a command runs and ends with 0. */
export const succeeds = (
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<boolean> =>
  run(command, args, env ? { env } : {}).then(
    () => true,
    () => false,
  );

/** Calls `work` for each item, at most `width` at a time. */
export const eachOf = async <T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
};
