import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, identity, quote, settlement } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { cached } from '../../shared/lib/cached.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { feeRuleOf } from '../../shared/lib/fee.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { config as schema } from './config.ts';
import { findQuoteRecords } from './operator/records.ts';
import { applyTransitions } from './quotes/apply-transitions.ts';
import { type CreateDeps, create } from './quotes/create.ts';
import { createFeeQuote } from './quotes/create-fee-quote.ts';
import { get } from './quotes/get.ts';
import { getAccountActivity } from './quotes/get-account-activity.ts';
import { getQuoteActivity } from './quotes/get-quote-activity.ts';
import { list } from './quotes/list.ts';
import { onSettlementAccepted, onSettlementFailed, onSettlementIssued } from './quotes/on-settlement.ts';
import { type QuerySettlementDeps, querySettlement } from './quotes/query-settlement.ts';

const QUERY_EVERY_MS = 5000;
/**
 * No caller waits for the status of a quote, so events that arrive close to each other share a
 * statement.
 */
const BATCH_WINDOW_MS = 250;
const RESERVATION_STEP_MS = 300_000;

const config = loadConfig(schema);
const base = await openBase('quote', config);
const { bus, pool, clock, relay, quarantine, logger } = base;

// A changed price or payout address takes effect within this time ("at once" is 2 s in
// docs/spec/decisions.md).
const findService = cached((service_id) => call(bus, identity, 'findService', { service_id }), {
  maxAgeMs: 1000,
});
// This is how soon a closed token account is noticed, also one that was granted and created in the
// meantime, because a grant is never revoked. A refusal is not cached.
const reserve = cached(
  (key) => {
    const [account_id, owner, until] = key.split('/') as [string, string, string];
    return call(bus, chainSubmitter, 'reserveTokenAccount', {
      ...{ account_id, owner, until: isoTime(Number(until)) },
    });
  },
  { maxAgeMs: 15_000, isCacheable: ({ status }) => status !== 'refused' },
);

const deps = {
  pool,
  clock: clock.now,
  environment: config.ENVIRONMENT,
  mint: config.USDC_MINT,
  fee: feeRuleOf(config),
  signingKey: config.SIGNING_KEYS[0]!,
  cursorKeys: config.CURSOR_KEY,
  relay,
  findService,
  // Up to five minutes later than necessary, so that many quotes of one lifetime share a call.
  reserveTokenAccount: (accountId, owner, until) =>
    reserve(`${accountId}/${owner}/${Math.ceil(until / RESERVATION_STEP_MS) * RESERVATION_STEP_MS}`),
  listByQuotes: (quotes) => call(bus, settlement, 'listByQuotes', { quotes: [...quotes] }),
} satisfies CreateDeps & QuerySettlementDeps & Record<string, unknown>;

const consuming = [
  subscribeInBatches(
    bus,
    settlement,
    { accepted: onSettlementAccepted, issued: onSettlementIssued, failed: onSettlementFailed },
    applyTransitions(deps),
    { quarantine, batchWindowMs: BATCH_WINDOW_MS },
  ),
];
const operating = operatorHandlers({ pool, consuming, findRecords: findQuoteRecords(pool) });

await runService(base, {
  serving: serve(
    bus,
    quote,
    {
      create: create(deps),
      createFeeQuote: createFeeQuote(deps),
      get: get(deps),
      list: list(deps),
      getAccountActivity: getAccountActivity(deps),
      getQuoteActivity: getQuoteActivity(deps),
      ...operating,
    },
    { calls: idempotentCalls(pool) },
  ),
  consuming,
  jobs: [
    everyMs(QUERY_EVERY_MS, 'querySettlement', querySettlement(deps), logger),
    startPurgeCalls({ pool, logger }),
  ],
});
