import { capUse, type HourlyLimits } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Reading } from '../../../shared/lib/metrics.ts';
import { INTENT_KINDS, INTENT_STATES, LAMPORT_BUDGETS } from '../../../shared/lib/metrics-catalog.ts';
import type { Limits } from '../limits/fee-budgets.ts';
import { isPaused } from './store/settings.ts';
import { countOpenByState, sumReserved } from './store/work.ts';

/** The intents under way, read at each scrape. */
export const collectIntents = (pool: Pool): Reading => ({
  name: 'intents',
  metrics: ['settle.intents', 'settle.intents.oldest_age'],
  read: async () => {
    const work = await countOpenByState(pool);
    return INTENT_KINDS.flatMap((kind) =>
      INTENT_STATES.flatMap((state) => {
        const row = work.find((each) => each.kind === kind && each.status === state);
        const labels = { kind, state };
        return [
          { metric: 'settle.intents' as const, value: Number(row?.intents ?? 0n), labels },
          { metric: 'settle.intents.oldest_age' as const, value: row?.oldest_age ?? 0, labels },
        ];
      }),
    );
  },
});

/** The operator's pause and how much of each cap is used up. */
export const collectCaps = (pool: Pool, caps: HourlyLimits): Reading => ({
  name: 'caps',
  metrics: ['settle.chain.paused', 'settle.chain.cap_used_ratio'],
  read: async () => {
    const [paused, hourly] = await Promise.all([isPaused(pool), capUse(pool, caps)]);
    return [{ metric: 'settle.chain.paused', value: paused ? 1 : 0 }, ...hourly];
  },
});

/** How much of the environment's daily lamport budgets is reserved. */
export const collectBudgets = (pool: Pool, limits: Limits): Reading => ({
  name: 'budgets',
  metrics: ['settle.chain.budget_used_ratio'],
  read: async () => {
    const spent = await sumReserved(pool, LAMPORT_BUDGETS);
    return LAMPORT_BUDGETS.map((budget) => ({
      metric: 'settle.chain.budget_used_ratio',
      value: Number(spent.get(budget) ?? 0n) / Number(limits[budget]),
      labels: { budget },
    }));
  },
});

/** The fee payer's balance. Kept for a while, so that watchers do not become callers of the providers. */
export const collectFeePayer = (lamportsOf: () => Promise<number>): Reading => ({
  name: 'fee_payer',
  metrics: ['settle.fee_payer_lamports'],
  read: async () => [{ metric: 'settle.fee_payer_lamports', value: await lamportsOf() }],
});
