import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, identity, quote, settlement, wallet, webhook } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { config as schema } from './config.ts';
import { issued } from './consumers/settlement.issued.ts';
import { endpointDisabled } from './consumers/webhook.endpointDisabled.ts';
import type { Deps } from './deps.ts';
import { handlers } from './handlers.ts';
import { endServices } from './jobs/endServices.ts';
import { startPurge } from './jobs/purge.ts';
import { startSendMails } from './jobs/sendMails.ts';
import { createMailer } from './mail.ts';
import { collectMails } from './readings.ts';
import { notePayments, type Payment } from './store/payments.ts';

const config = loadConfig(schema);
const base = await openBase('identity', config);
const { bus, pool, logger, clock, relay } = base;
const environment = config.ENVIRONMENT;
/**
 * Mails about payments wait for the sweep of a second: agents pay hundreds of times a minute, and the way is free for a mail
 * that somebody waits for. So their events may wait as well, and share a statement.
 */
const BATCH_WINDOW_MS = 250;

const mails = startSendMails({
  pool,
  logger,
  mailer: createMailer({ url: config.SMTP_URL, from: config.MAIL_FROM }),
  environment,
  identitySecret: config.IDENTITY_SECRET,
  signInUrl: config.SIGN_IN_URL,
  revealUrl: config.REVEAL_URL,
});

const deps: Deps = {
  pool,
  logger,
  clock: clock.now,
  environment,
  signingKey: config.SIGNING_KEYS[0]!,
  identitySecret: config.IDENTITY_SECRET,
  cursorKey: config.CURSOR_KEY,
  relay,
  rp: { id: config.PASSKEY_RP_ID, name: config.PASSKEY_RP_NAME, origins: config.PASSKEY_ORIGINS },
  defaultWallet: async (account_id: string) =>
    (await call(bus, wallet, 'find', { account_id }))?.wallet_id ?? null,
  chooseDefaultWallet: async (account_id: string, wallet_id: string | null) =>
    (await call(bus, wallet, 'setDefault', { account_id, wallet_id })).found,
  checkPayoutAddress: (payout_address: string, allow_off_curve: boolean) =>
    call(bus, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
  pokeMails: mails.poke,
  payoutDelayHours: environment === 'live' ? 24 : 0,
  hasWallet: async (account_id: string, wallet_id: string) =>
    (await call(bus, wallet, 'find', { account_id, wallet_id })) !== null,
  upsertDelegate: (input: Parameters<Deps['upsertDelegate']>[0]) =>
    call(bus, settlement, 'upsertDelegate', input),
  listDelegateSpending: (account_id: string, delegate_ids: string[]) =>
    call(bus, settlement, 'listDelegateSpending', { account_id, delegate_ids }),
  activityOf: async (service_id: string) => {
    const both = await Promise.all([
      call(bus, quote, 'getQuoteActivity', { service_id }),
      call(bus, settlement, 'getSettlementActivity', { service_id }),
    ]);
    const ends = both.flatMap(({ ends_at }) => (ends_at === null ? [] : [Date.parse(ends_at)]));
    return { open: both.some(({ open }) => open), endsAt: ends.length === 0 ? null : Math.max(...ends) };
  },
};

const consuming = [
  subscribeInBatches(
    bus,
    settlement,
    { issued },
    (payments: readonly Payment[]) => notePayments(pool, payments),
    {
      quarantine: base.quarantine,
      batchWindowMs: BATCH_WINDOW_MS,
    },
  ),
  subscribe(bus, webhook, { endpointDisabled: endpointDisabled(deps) }, base.quarantine),
];
const operating = operatorHandlers({ pool, consuming });

await runService(base, {
  serving: serve(
    bus,
    identity,
    { ...handlers(deps), ...operating },
    { now: clock.now, calls: idempotentCalls(pool) },
  ),
  consuming,
  jobs: [
    mails,
    startPurge({ pool, logger }),
    startPurgeCalls({ pool, logger }),
    everyMs(60_000, 'endServices', endServices(deps), logger),
  ],
  gauges: [collectMails(pool)],
});
