import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { signIn } from '../../../deploy/local/seed/sign-in.ts';
import { waitFor } from '../../support/base/wait.ts';
import { answer, startReceiver } from '../../support/servers/receiver.ts';
import type { Access } from '../access.ts';
import { inParallel } from '../recovery.ts';

/** Longer than the lease of a delivery whose sender has died (60 s), and its first repeats. */
const SENT_WITHIN_MS = 120_000;
const HANDS = 4;

/** Everything that an account gets as an event since it has its endpoint. */
const DUE = `
  select n.account_id, event_id, type from webhook.endpoints n join webhook.events e
    on n.account_id in (e.account_id, e.other_account_id) and e.created_at > n.created_at
  where n.description = $1`;
const DESCRIPTION = 'fault campaign';

/** A server that receives the webhooks of the vendors of a run. */
export type WebhookReceiver = {
  /** The webhooks that were due and never sent. */
  readUnsent: () => Promise<string[]>;
  stop: () => Promise<void>;
};

/** Where webhooks arrive. */
export type Inbox = {
  url: string;
  /** The path and the webhook id of each request so far. */
  read: () => Promise<{ path: string; id: string }[]>;
  stop: () => Promise<void>;
};

/** A receiver on this machine. */
export const openInbox = async (): Promise<Inbox> => {
  const { url, received, stop } = await startReceiver(answer(200));
  const read = async () => received.map(({ path, headers }) => ({ path, id: headers['webhook-id'] ?? '' }));
  return { url, read, stop };
};

/** Gives each account that sells now a webhook endpoint, for all events. */
export const startWebhookReceiver = async (
  { stack, query }: Pick<Access, 'stack' | 'query'>,
  open: () => Promise<Inbox> = openInbox,
): Promise<WebhookReceiver> => {
  const inbox = await open();
  const api = patientApi(createApi(stack.gateway_url));
  const vendors = await query<{ account_id: string; email: string }>(
    'select distinct account_id, email from identity.accounts join identity.services using (account_id) where email is not null',
  );
  await inParallel(vendors, HANDS, async ({ account_id, email }) => {
    const { access_token: token } = await signIn(api, stack, email, 'test');
    // Payer and vendor share an event, and each has its own webhook of it.
    const body = { url: `${inbox.url}/${account_id}`, description: DESCRIPTION };
    await must(api('POST /v1/webhook-endpoints', { token, body }), 'webhook endpoint');
  });

  const readUnsent = async (): Promise<string[]> => {
    let unsent: string[] = [];
    const readAgain = async () => {
      const due = await query<Record<'account_id' | 'event_id' | 'type', string>>(DUE, [DESCRIPTION]);
      const sent = new Set((await inbox.read()).map(({ path, id }) => `${path.split('/').at(-1)} ${id}`));
      unsent = due
        .filter(({ account_id, event_id }) => !sent.has(`${account_id} ${event_id}`))
        .map(({ account_id, event_id, type }) => `${account_id} was never sent ${type} ${event_id}`);
      return unsent;
    };
    await waitFor(readAgain, ({ length }) => length === 0, SENT_WITHIN_MS, 1000).catch((error: unknown) => {
      if (unsent.length === 0) throw error;
    });
    return unsent;
  };
  return { readUnsent, stop: inbox.stop };
};
