import { homedir } from 'node:os';
import path from 'node:path';
import type { Credential, Fetch, Tokens } from '../../sdk/src/main.ts';
import { withLock } from './lock.ts';
import { readPrivate, removePrivate, writePrivate } from './private-file.ts';

/** The sign-in that `quittance login` stores, one for each address of the API and environment. */

export type Environment = 'test' | 'live';
export type SignIn = {
  url: string;
  environment: Environment;
  account: { account_id: string; email: string };
  access_token: string;
  refresh_token: string;
};

/** The folder of all files of this command: `$XDG_CONFIG_HOME/quittance`, by default ~/.config. */
export const configFolder = (env: Readonly<Record<string, string | undefined>>): string => {
  const base = env.XDG_CONFIG_HOME;
  // The specification of XDG ignores a relative path.
  const isUsable = base !== undefined && path.isAbsolute(base);
  return path.join(isUsable ? base : path.join(env.HOME || homedir(), '.config'), 'quittance');
};

const REFRESH_PATH = '/v1/auth/refresh';
const tokensIn = (signIn: Tokens) => ({
  access_token: signIn.access_token,
  refresh_token: signIn.refresh_token,
});

/**
 * The stored sign-in of one address and environment. Processes share it: a refresh token works
 * once, so one process at a time exchanges it, and the others read the successor.
 */
export const createSignIns = (folder: string, url: string, environment: Environment) => {
  const name = `${encodeURIComponent(url)}.${environment}`;
  const file = path.join(folder, `${name}.json`);
  const lock = `${file}.lock`;
  const load = () => readPrivate<SignIn>(file);

  const exchange = async (fetch: Fetch, address: string, init: RequestInit): Promise<Response> => {
    const sent = (JSON.parse(String(init.body)) as { refresh_token?: string }).refresh_token;
    const held = await load();
    // Another process was first. Using the old token again would count as theft.
    if (held !== null && held.refresh_token !== sent) return Response.json(tokensIn(held));
    const response = await fetch(address, init);
    if (response.ok && held !== null) {
      const next = (await response.clone().json()) as Tokens & { refresh_token: string };
      await writePrivate(file, { ...held, ...tokensIn(next) });
    }
    return response;
  };

  return {
    load,
    save: (signIn: SignIn) => withLock(lock, () => writePrivate(file, signIn)),
    remove: () => withLock(lock, () => removePrivate(file)),
    /** The SDK's view of the stored tokens. */
    credential: {
      load,
      save: async (tokens) => {
        // The exchange has stored a new pair. This reports that the sign-in has ended.
        if (tokens === null) await removePrivate(file);
      },
    } satisfies Credential,
    /** A fetch that exchanges the refresh token in one process at a time. */
    fetch:
      (fetch: Fetch): Fetch =>
      (address, init) =>
        address === `${url}${REFRESH_PATH}`
          ? withLock(lock, () => exchange(fetch, address, init))
          : fetch(address, init),
  };
};
export type SignIns = ReturnType<typeof createSignIns>;
