import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import {
  chainSubmitter,
  funding,
  identity,
  quote,
  settlement,
  wallet,
  webhook,
} from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { feeRuleOf } from '../../shared/lib/fee.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { isOnThisMachine } from '../../shared/lib/transport.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { accountOperations } from './accounts/operations.ts';
import { approvalRequested } from './approvals/on-settlement-approval-requested.ts';
import { approvalOperations } from './approvals/operations.ts';
import type { RecordApproval } from './approvals/settlement-calls.ts';
import { eraseAccounts } from './closing/erase-accounts.ts';
import { closingOperations } from './closing/operations.ts';
import { config as schema } from './config.ts';
import { delegateOperations } from './delegates/operations.ts';
import type { SpendingWriter } from './delegates/spending.ts';
import { deviceOperations } from './devices/operations.ts';
import { keyOperations } from './keys/operations.ts';
import { mailGauges } from './mailer/gauges.ts';
import { createMailer } from './mailer/mailer.ts';
import { declined } from './mailer/on-settlement-declined.ts';
import { startSendMails } from './mailer/send-mails.ts';
import { fundingNoted } from './mails/on-funding-security-noted.ts';
import { securityNoted } from './mails/on-settlement-security-noted.ts';
import { walletNoted } from './mails/on-wallet-security-noted.ts';
import { endpointDisabled } from './mails/on-webhook-endpoint-disabled.ts';
import { webhookNoted } from './mails/on-webhook-security-noted.ts';
import { accountStatusOperations } from './operator/operations.ts';
import { purge } from './operator/purge.ts';
import { passkeyOperations } from './passkeys/operations.ts';
import { issued } from './payments/on-settlement-issued.ts';
import { type Payment, recordPayments } from './payments/store.ts';
import { endServices } from './services/end-services.ts';
import { serviceOperations } from './services/operations.ts';
import { sessionOperations } from './sessions/operations.ts';
import { signInOperations } from './sign-in/operations.ts';

const config = loadConfig(schema);
const base = await openBase('identity', config);
const { bus, pool, logger, clock, relay } = base;
const environment = config.ENVIRONMENT;
/**
 * Mails about payments wait for the sweep, which runs every second: agents pay hundreds of times a
 * minute, and those mails must not delay a mail that a user waits for. Their events may therefore
 * wait too, and share a statement.
 */
const BATCH_WINDOW_MS = 250;
const CHECK_EVERY_MS = 60_000;
/** A query of an index that is nearly always empty. */
const ERASE_EVERY_MS = 10_000;

const links = {
  environment,
  identitySecrets: config.IDENTITY_SECRET,
  signInUrl: config.SIGN_IN_URL,
  revealUrl: config.REVEAL_URL,
  consoleUrl: config.CONSOLE_URL,
};
const mailer = createMailer({
  url: config.SMTP_URL,
  from: config.MAIL_FROM,
  requireTls: config.ENVIRONMENT === 'live' && !isOnThisMachine(config.SMTP_URL),
  caFile: config.TLS_CA_FILE,
});
const mails = startSendMails({ pool, logger, mailer, ...links });

const deps = {
  pool,
  logger,
  clock: clock.now,
  environment,
  signingKey: config.SIGNING_KEYS[0]!,
  identitySecrets: config.IDENTITY_SECRET,
  consoleUrl: config.CONSOLE_URL,
  cursorKeys: config.CURSOR_KEY,
  relay,
  rp: { id: config.PASSKEY_RP_ID, name: config.PASSKEY_RP_NAME, origins: config.PASSKEY_ORIGINS },
  findDefaultWallet: async (account_id: string) =>
    (await call(bus, wallet, 'find', { account_id }))?.wallet_id ?? null,
  setDefaultWallet: async (account_id: string, wallet_id: string | null) =>
    (await call(bus, wallet, 'setDefault', { account_id, wallet_id })).found,
  fee: feeRuleOf(config),
  checkPayoutAddress: (payout_address: string, allow_off_curve: boolean) =>
    call(bus, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
  sendMailsNow: mails.sendNow,
  payoutDelayHours: environment === 'live' ? 24 : 0,
  hasWallet: async (account_id: string, wallet_id: string) =>
    (await call(bus, wallet, 'find', { account_id, wallet_id })) !== null,
  upsertDelegate: (input: Parameters<SpendingWriter['upsertDelegate']>[0]) =>
    call(bus, settlement, 'upsertDelegate', input),
  listDelegateSpending: (account_id: string, delegate_ids: string[]) =>
    call(bus, settlement, 'listDelegateSpending', { account_id, delegate_ids }),
  findApproval: (account_id: string, approval_id: string) =>
    call(bus, settlement, 'findApproval', { account_id, approval_id }),
  recordApproval: (input: Parameters<RecordApproval>[0]) => call(bus, settlement, 'recordApproval', input),
  erasureDays: config.ACCOUNT_ERASURE_DAYS,
  listOpenWork: async (account_id: string) =>
    (
      await Promise.all([
        call(bus, quote, 'getAccountActivity', { account_id }),
        call(bus, settlement, 'getAccountActivity', { account_id }),
        call(bus, funding, 'getAccountActivity', { account_id }),
        call(bus, wallet, 'getAccountActivity', { account_id }),
      ])
    ).flat(),
  getActivity: async (service_id: string) => {
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
    (payments: readonly Payment[]) => recordPayments(pool, payments),
    {
      quarantine: base.quarantine,
      batchWindowMs: BATCH_WINDOW_MS,
    },
  ),
  subscribe(
    bus,
    settlement,
    {
      approvalRequested: approvalRequested(deps),
      declined: declined(deps),
      securityNoted: securityNoted(deps),
    },
    base.quarantine,
  ),
  subscribe(
    bus,
    webhook,
    { endpointDisabled: endpointDisabled(deps), securityNoted: webhookNoted(deps) },
    base.quarantine,
  ),
  subscribe(bus, wallet, { securityNoted: walletNoted(deps) }, base.quarantine),
  subscribe(bus, funding, { securityNoted: fundingNoted(deps) }, base.quarantine),
];

const handlers = {
  ...accountOperations(deps),
  ...approvalOperations(deps),
  ...sessionOperations(deps),
  ...signInOperations(deps),
  ...closingOperations(deps),
  ...deviceOperations(deps),
  ...passkeyOperations(deps),
  ...keyOperations(deps),
  ...serviceOperations(deps),
  ...delegateOperations(deps),
  ...accountStatusOperations(deps),
  ...operatorHandlers({ pool, consuming }),
};

await runService(base, {
  serving: serve(bus, identity, handlers, { now: clock.now, calls: idempotentCalls(pool) }),
  consuming,
  jobs: [
    mails,
    everyMs(CHECK_EVERY_MS, 'purge', purge(deps), logger),
    startPurgeCalls({ pool, logger }),
    everyMs(CHECK_EVERY_MS, 'endServices', endServices(deps), logger),
    everyMs(ERASE_EVERY_MS, 'eraseAccounts', eraseAccounts(deps), logger),
  ],
  gauges: [mailGauges(pool)],
});
