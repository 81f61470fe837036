import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../stack/stack-file.ts';
import { type Api, must } from './api.ts';

export type SignIn = {
  access_token: string;
  refresh_token: string;
  account: { account_id: string; email: string };
};

const MAIL_WAIT_MS = 30_000;

/** The token of the newest link that was mailed to this address after the given time. */
export const linkToken = async (
  mailUrl: string,
  email: string,
  environment: string,
  since: number,
): Promise<string> => {
  const deadline = Date.now() + MAIL_WAIT_MS;
  while (Date.now() < deadline) {
    const response = await fetch(`${mailUrl}/messages?to=${encodeURIComponent(email)}`);
    const messages = (await response.json()) as { text: string; received_at: string }[];
    const links = messages
      .filter(({ received_at }) => Date.parse(received_at) >= since)
      .flatMap(({ text }) => text.match(new RegExp(`(?<=#token=)ml_${environment}_[A-Za-z0-9_-]+`)) ?? []);
    const token = links[0];
    if (token !== undefined) return token;
    await sleep(50);
  }
  throw new Error(`no sign-in mail arrived for ${email}`);
};

/** Signs in by a mailed link. The first sign-in creates the account. */
export const signIn = async (
  api: Api,
  stack: Pick<Stack, 'mail_url'>,
  email: string,
  environment: string,
): Promise<SignIn> => {
  const since = Date.now();
  await must(api('POST /v1/auth/magic-link', { body: { email, environment } }), 'magic link');
  const token = await linkToken(stack.mail_url, email, environment, since);
  return must(api<SignIn>('POST /v1/auth/magic-link/verify', { body: { token } }), 'sign-in');
};
