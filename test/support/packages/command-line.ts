import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import { signIn } from '../../../deploy/local/seed/sign-in.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { inherited } from '../base/inherited.ts';
import { waitFor } from '../base/wait.ts';

/** The command `quittance` as a process, with a separate configuration folder. */

const root = path.resolve(import.meta.dirname, '../../..');

/** The command in one file, because many processes start it. Each suite has its own. */
const bundled = (): string => {
  // Within the tree, so that the bundle finds its packages.
  const outfile = path.join(root, '.local', `cli-${process.pid}`, 'quittance.mjs');
  buildSync({
    entryPoints: [path.join(root, 'cli/src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outfile;
};

type Ended = { code: number | null; out: string; err: string };
let program: string | undefined;

type Options = { key?: string; env?: Record<string, string>; input?: string; cwd?: string };

/** `start` runs a command, and `quittance` runs it to its end. */
export const createCommandLine = ({ gateway_url, mail_url }: Pick<Stack, 'gateway_url' | 'mail_url'>) => {
  program ??= bundled();
  const main = program;
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-cli-'));
  const api = createApi(gateway_url);
  const children: ChildProcess[] = [];

  const start = (args: readonly string[], { key, env = {}, input, cwd = folder }: Options = {}) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: {
        ...inherited,
        HOME: folder,
        XDG_CONFIG_HOME: path.join(folder, 'config'),
        QUITTANCE_URL: gateway_url,
        ...(key === undefined ? {} : { QUITTANCE_KEY: key }),
        ...env,
      },
    });
    children.push(child);
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      said.out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      said.err += String(chunk);
    });
    child.stdin.end(input);
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code) => resolve({ code, ...said }));
    });
    return { child, said, ended };
  };
  const quittance = (args: readonly string[], options?: Options) => start(args, options).ended;

  return {
    folder,
    program: main,
    start,
    quittance,
    /** Runs a command with `--json` and returns its result. @throws if it fails */
    json: async <T = Record<string, unknown>>(args: readonly string[], options?: Options): Promise<T> => {
      const { code, out, err } = await quittance([...args, '--json'], options);
      if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${err}`);
      return JSON.parse(out) as T;
    },
    /** `quittance login`, decided by the owner of this address through the API. */
    login: async (email: string, allow = true): Promise<Ended> => {
      const { said, ended } = start(['login']);
      const code = await waitFor(
        () => /code=([A-Z-]{9})/.exec(said.err)?.[1] ?? null,
        (found) => found !== null,
      );
      const { access_token: token } = await signIn(api, { mail_url }, email, 'test');
      await must(
        api('POST /v1/auth/device/decide', { token, body: { user_code: code, allow } }),
        'decide about the device',
      );
      return ended;
    },
    /** Ends what still runs, and removes its files. */
    remove: () => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
