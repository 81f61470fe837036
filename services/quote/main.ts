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
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { config as schema } from './config.ts';
import { accepted } from './consumers/settlement.accepted.ts';
import { failed } from './consumers/settlement.failed.ts';
import { issued } from './consumers/settlement.issued.ts';
import type { Deps } from './deps.ts';
import { create } from './handlers/create.ts';
import { get } from './handlers/get.ts';
import { getQuoteActivity } from './handlers/getQuoteActivity.ts';
import { list } from './handlers/list.ts';
import { askSettlement } from './jobs/askSettlement.ts';
import { applyTransitions } from './transitions.ts';

const ASK_EVERY_MS = 5000;
/** Nobody waits for a quote's displayed status: events of a moment share a statement. */
const BATCH_WINDOW_MS = 250;
const PROMISES_MS = 300_000;

const config = loadConfig(schema);
const base = await openBase('quote', config);
const { bus, pool, clock, relay, quarantine, logger } = base;

// A changed price or payout address acts within this time ("at once" is 2 s in
// docs/spec/decisions.md).
const findService = cached((service_id) => call(bus, identity, 'findService', { service_id }), {
  maxAgeMs: 1000,
});
// A token account that is closed again is noticed after this time, also one that was granted and created meanwhile: a grant
// once given is not taken back. A refusal is asked anew.
const reserve = cached(
  (key) => {
    const [account_id, owner, until] = key.split('/') as [string, string, string];
    return call(bus, chainSubmitter, 'reserveTokenAccount', {
      ...{ account_id, owner, until: isoTime(Number(until)) },
    });
  },
  { maxAgeMs: 15_000, isCacheable: ({ status }) => status !== 'refused' },
);

const deps: Deps = {
  pool,
  clock: clock.now,
  environment: config.ENVIRONMENT,
  mint: config.USDC_MINT,
  fee: { bps: config.FEE_BPS, minMicro: config.FEE_MIN_MICRO },
  signingKey: config.SIGNING_KEYS[0]!,
  cursorKey: config.CURSOR_KEY,
  relay,
  findService,
  // Up to five minutes later than need be, so that many quotes of one lifetime ask once.
  reserveTokenAccount: (accountId, owner, until) =>
    reserve(`${accountId}/${owner}/${Math.ceil(until / PROMISES_MS) * PROMISES_MS}`),
  listByQuotes: (quotes) => call(bus, settlement, 'listByQuotes', { quotes: [...quotes] }),
};

const consuming = [
  subscribeInBatches(bus, settlement, { accepted, issued, failed }, applyTransitions(deps), {
    quarantine,
    batchWindowMs: BATCH_WINDOW_MS,
  }),
];
const operating = operatorHandlers({ pool, consuming });

await runService(base, {
  serving: serve(
    bus,
    quote,
    {
      create: create(deps),
      get: get(deps),
      list: list(deps),
      getQuoteActivity: getQuoteActivity(deps),
      ...operating,
    },
    { calls: idempotentCalls(pool) },
  ),
  consuming,
  jobs: [
    everyMs(ASK_EVERY_MS, 'askSettlement', askSettlement(deps), logger),
    startPurgeCalls({ pool, logger }),
  ],
});
