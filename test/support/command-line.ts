import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signIn } from '../../deploy/local/seed/sign-in.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import { waitFor } from './wait.ts';

/** The command `quittance` as a process, with a separate configuration folder. */

const SOURCE = path.resolve(import.meta.dirname, '../../cli/src/main.ts');

export type Ended = { code: number | null; out: string; err: string };
type Options = { key?: string; env?: Record<string, string>; input?: string };

/**
 * @param program the file to run; by default the sources
 */
export const createCommandLine = (
  { gateway_url, mail_url }: Pick<Stack, 'gateway_url' | 'mail_url'>,
  program = SOURCE,
) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-cli-'));
  const api = createApi(gateway_url);

  const start = (args: readonly string[], { key, env = {}, input }: Options = {}) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_CONFIG_HOME: path.join(folder, 'config'),
        QUITTANCE_URL: gateway_url,
        ...(key === undefined ? {} : { QUITTANCE_KEY: key }),
        ...env,
      },
    });
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
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
