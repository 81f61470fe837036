import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import type { Client } from '../../../sdk/src/main.ts';
import { isLoopback } from '../context.ts';
import { FailedError, UsageError } from '../errors.ts';

/**
 * A system of `npm start` on this machine. It catches its mails instead of sending them, so this
 * command can sign in without a browser, by the same mailed link as a person.
 */

/** The account with which `npm start` makes its first payment. */
export const LOCAL_VENDOR = 'vendor@example.com';

export type LocalStack = {
  apiUrl: string;
  mailUrl: string;
  consoleUrl: string;
  /** Of the account that `npm start` has made to pay with; null before its first payment. */
  delegateKey: string | null;
};

const MAIL_MS = 30_000;
const AGAIN_MS = 100;
const FILES = ['.local', '.'] as const;

const textIn = async (folder: string, name: string): Promise<string | null> => {
  for (const place of FILES) {
    const text = await readFile(path.join(folder, place, name), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return null;
};

type StackFile = { gateway_url?: unknown; mail_url?: unknown; console_url?: unknown };
const stackIn = (text: string): StackFile => {
  try {
    return (JSON.parse(text) ?? {}) as StackFile;
  } catch {
    return {};
  }
};

/**
 * @param folder where `npm start` runs, or its folder of state
 * @throws UsageError
 */
export const readLocalStack = async (folder: string): Promise<LocalStack> => {
  const text = await textIn(folder, 'stack.json');
  if (text === null)
    throw new UsageError(
      `--stack: npm start does not run in ${path.resolve(folder)}`,
      'Run `npm start` in the repository of Quittance, wait for its line “Ready”, and name that folder.',
    );
  const { gateway_url: apiUrl, mail_url: mailUrl, console_url: consoleUrl } = stackIn(text);
  // The mails of another machine would be those of somebody else.
  const isLocal = (url: unknown): url is string => typeof url === 'string' && isLoopback(url);
  if (!isLocal(apiUrl) || !isLocal(mailUrl) || !isLocal(consoleUrl))
    throw new UsageError(`--stack: the file stack.json in ${path.resolve(folder)} is not of npm start`);
  const { DELEGATE_KEY = null } = parseEnv((await textIn(folder, 'env')) ?? '');
  return { apiUrl, mailUrl, consoleUrl, delegateKey: DELEGATE_KEY };
};

type Message = { text: string; received_at: string };

const mailedToken = async (mailUrl: string, since: number, signal: AbortSignal): Promise<string> => {
  for (
    const endsAt = Date.now() + MAIL_MS;
    Date.now() < endsAt;
    await sleep(AGAIN_MS, undefined, { signal })
  ) {
    const response = await fetch(`${mailUrl}/messages?to=${encodeURIComponent(LOCAL_VENDOR)}`, { signal });
    const messages = (await response.json()) as Message[];
    for (const { text, received_at } of messages) {
      const token = /#token=(ml_test_[A-Za-z0-9_-]+)/.exec(text)?.[1];
      if (token !== undefined && Date.parse(received_at) >= since) return token;
    }
  }
  throw new FailedError('npm start has caught no mail with a link', 'Repeat the command.');
};

type Service = { serviceId: string; serviceKey: string };

/** Creates a service of the local vendor, in a sign-in that ends with it. */
export const createLocalService = async (
  { mailUrl }: LocalStack,
  { name, price }: { name: string; price: string },
  { clientOf, signal }: { clientOf: (token?: string) => Client; signal: AbortSignal },
): Promise<Service> => {
  const since = Date.now();
  const anonymous = clientOf();
  await anonymous.identity.requestMagicLink({ email: LOCAL_VENDOR, environment: 'test' }, { signal });
  const token = await mailedToken(mailUrl, since, signal);
  const signIn = await anonymous.identity.verifyMagicLink({ token }, { signal });
  const client = clientOf(signIn.access_token);
  try {
    const { data } = await client.identity.listServices({ limit: '1' }, { signal });
    const payout_address = data[0]?.payout_address;
    if (payout_address === undefined)
      throw new FailedError(
        'npm start has not made its first payment yet',
        'Repeat the command when it prints “One payment through the public API”.',
      );
    const made = await client.identity.createService({ name, price, payout_address }, { signal });
    if (!('api_key' in made)) throw new FailedError('the key was shown already', 'Repeat the command.');
    return { serviceId: made.service_id, serviceKey: made.api_key };
  } finally {
    const { refresh_token } = signIn;
    if (refresh_token !== undefined) await client.identity.logout({ refresh_token }).catch(() => undefined);
  }
};
