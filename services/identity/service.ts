import { type Records, recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { funding, identity, settlement, wallet, webhook } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { feeRuleOf } from '../../shared/lib/money/fee-settings.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { isOnThisMachine } from '../../shared/lib/transport.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { accountOperations } from './accounts/operations.ts';
import { approvalRequested } from './approvals/on-settlement-approval-requested.ts';
import { approvalOperations } from './approvals/operations.ts';
import { eraseAccounts } from './closing/erase-accounts.ts';
import { closingOperations } from './closing/operations.ts';
import type { Config } from './config.ts';
import { delegateOperations } from './delegates/operations.ts';
import { deviceOperations } from './devices/operations.ts';
import { createDomainProof } from './domains/proof.ts';
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
import { queueEventMails } from './mails/queue-event-mails.ts';
import { accountStatusOperations } from './operator/operations.ts';
import { purge } from './operator/purge.ts';
import { listMailRecords } from './operator/records.ts';
import { passkeyOperations } from './passkeys/operations.ts';
import { issued } from './payments/on-settlement-issued.ts';
import { type Payment, recordPayments } from './payments/store.ts';
import type { Peers } from './peers.ts';
import { endServices } from './services/end-services.ts';
import { serviceOperations } from './services/operations.ts';
import { recheckDomains } from './services/recheck-domains.ts';
import { sessionOperations } from './sessions/operations.ts';
import { signInOperations } from './sign-in/operations.ts';
import type { Terms } from './terms.ts';

/** When what is done that no caller waits for. */
type Timing = {
  /**
   * Mails about payments wait for the sweep: agents pay hundreds of times a minute, and those mails
   * must not delay a mail that a user waits for. Their events may therefore wait too, and share a
   * statement.
   */
  batchWindowMs: number;
  sendMailsEveryMs: number;
  checkEveryMs: number;
  eraseEveryMs: number;
};
const TIMING: Timing = {
  batchWindowMs: 250,
  sendMailsEveryMs: 1000,
  checkEveryMs: 60_000,
  // A query of an index that is nearly always empty.
  eraseEveryMs: 10_000,
};

const termsOf = (config: Config): Terms => ({
  environment: config.ENVIRONMENT,
  signingKey: config.SIGNING_KEYS[0]!,
  identitySecrets: config.IDENTITY_SECRET,
  cursorKeys: config.CURSOR_KEY,
  consoleUrl: config.CONSOLE_URL,
  rp: { id: config.PASSKEY_RP_ID, name: config.PASSKEY_RP_NAME, origins: config.PASSKEY_ORIGINS },
  fee: feeRuleOf(config),
  proveDomain: createDomainProof(config.DOMAIN_NAME_SERVERS ?? null),
  erasureDays: config.ACCOUNT_ERASURE_DAYS,
  payoutDelayHours: config.ENVIRONMENT === 'live' ? 24 : 0,
});

const startMails = ({ pool, logger }: ServiceBase, config: Config, { sendMailsEveryMs }: Timing) => {
  const mailer = createMailer({
    url: config.SMTP_URL,
    from: config.MAIL_FROM,
    requireTls: config.ENVIRONMENT === 'live' && !isOnThisMachine(config.SMTP_URL),
    caFile: config.TLS_CA_FILE,
  });
  const links = {
    environment: config.ENVIRONMENT,
    identitySecrets: config.IDENTITY_SECRET,
    signInUrl: config.SIGN_IN_URL,
    revealUrl: config.REVEAL_URL,
    consoleUrl: config.CONSOLE_URL,
  };
  return startSendMails({ pool, logger, mailer, ...links }, sendMailsEveryMs);
};

type Deps = Records & Terms & Peers & { sendMailsNow: () => void };

const operations = (deps: Deps) => ({
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
});

const consume = ({ bus, quarantine }: ServiceBase, deps: Deps, { batchWindowMs }: Timing) => {
  const record = (payments: readonly Payment[]) => recordPayments(deps.pool, payments);
  const queueMails = queueEventMails(deps);
  const atOnce = { quarantine, batchWindowMs: 0 };
  return [
    subscribeInBatches(bus, settlement, { issued }, record, { quarantine, batchWindowMs }),
    subscribeInBatches(bus, settlement, { approvalRequested, declined }, queueMails, atOnce),
    subscribeInBatches(bus, webhook, { endpointDisabled }, queueMails, atOnce),
    subscribe(bus, settlement, { securityNoted: securityNoted(deps) }, quarantine),
    subscribe(bus, webhook, { securityNoted: webhookNoted(deps) }, quarantine),
    subscribe(bus, wallet, { securityNoted: walletNoted(deps) }, quarantine),
    subscribe(bus, funding, { securityNoted: fundingNoted(deps) }, quarantine),
  ];
};

/**
 * Starts the identity service.
 * @param changed what a test sets otherwise: the timing, and terms that follow from the environment
 */
export const createService = (
  base: ServiceBase,
  config: Config,
  peers: Peers,
  changed: Partial<Timing & Terms> = {},
): Service => {
  const { bus, pool, clock, logger } = base;
  const timing = { ...TIMING, ...changed };
  const mails = startMails(base, config, timing);
  const deps = {
    ...recordsOf(base),
    ...termsOf(config),
    ...changed,
    ...peers,
    sendMailsNow: mails.sendNow,
  };
  const consuming = consume(base, deps, timing);
  const handlers = {
    ...operations(deps),
    listSentEvents: listSentEvents(pool),
    ...operatorHandlers({ pool, consuming, listAccountRecords: listMailRecords(pool) }),
  };
  return {
    serving: serve(bus, identity, handlers, { now: clock.now, calls: idempotentCalls(pool) }),
    consuming,
    jobs: [
      mails,
      everyMs(timing.checkEveryMs, 'purge', purge(deps), logger),
      startPurgeCalls({ pool, logger }),
      everyMs(timing.checkEveryMs, 'endServices', endServices(deps), logger),
      everyMs(timing.checkEveryMs, 'recheckDomains', recheckDomains(deps), logger),
      everyMs(timing.eraseEveryMs, 'eraseAccounts', eraseAccounts(deps), logger),
    ],
    gauges: [mailGauges(pool)],
  };
};
