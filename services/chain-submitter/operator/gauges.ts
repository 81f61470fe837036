import { type HourlyLimits, measureCapUse } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { GaugeCollector } from '../../../shared/lib/telemetry/metrics.ts';
import {
  COST_PARTS,
  INTENT_KINDS,
  INTENT_STATES,
  LAMPORT_BUDGETS,
  PAID_KINDS,
} from '../../../shared/lib/telemetry/metrics-catalog.ts';
import { countOpenByState } from '../ledger/store/intents.ts';
import { daysFrom, sumPlatformCosts } from '../ledger/store/network-costs.ts';
import { findLastReconcile } from '../ledger/store/reconcile-runs.ts';
import { isPaused } from '../ledger/store/settings.ts';
import { sumReserved } from '../ledger/store/spending.ts';
import type { Limits } from '../limits/fee-budgets.ts';
import { type IncomingLimits, measureIncomingCapUse } from '../limits/incoming-caps.ts';

/** Collects the open intents at each scrape. */
export const collectIntents = (pool: Pool): GaugeCollector => ({
  name: 'intents',
  metrics: ['quittance_intents', 'quittance_intents_oldest_age_seconds'],
  collect: async () => {
    const counts = await countOpenByState(pool);
    return INTENT_KINDS.flatMap((kind) =>
      INTENT_STATES.flatMap((state) => {
        const row = counts.find((each) => each.kind === kind && each.status === state);
        const labels = { kind, state };
        return [
          { metric: 'quittance_intents' as const, value: Number(row?.intents ?? 0n), labels },
          { metric: 'quittance_intents_oldest_age_seconds' as const, value: row?.oldest_age ?? 0, labels },
        ];
      }),
    );
  },
});

/** Collects the operator's pause and the used part of each cap. */
export const collectCaps = (pool: Pool, caps: HourlyLimits & IncomingLimits): GaugeCollector => ({
  name: 'caps',
  metrics: ['quittance_signing_paused', 'quittance_cap_used_ratio'],
  collect: async () => {
    const [paused, ...used] = await Promise.all([
      isPaused(pool),
      measureCapUse(pool, caps),
      measureIncomingCapUse(pool, caps),
    ]);
    return [{ metric: 'quittance_signing_paused', value: paused ? 1 : 0 }, ...used.flat()];
  },
});

/** Collects the reserved part of the environment's daily lamport budgets. */
export const collectBudgets = (pool: Pool, limits: Limits): GaugeCollector => ({
  name: 'budgets',
  metrics: ['quittance_budget_used_ratio'],
  collect: async () => {
    const reserved = await sumReserved(pool, LAMPORT_BUDGETS);
    return LAMPORT_BUDGETS.map((budget) => ({
      metric: 'quittance_budget_used_ratio',
      value: Number(reserved.get(budget) ?? 0n) / Number(limits[budget]),
      labels: { budget },
    }));
  },
});

/** Collects what the transactions that became final in this UTC day have cost. */
export const collectCosts = (pool: Pool, clock: Clock): GaugeCollector => ({
  name: 'costs',
  metrics: ['quittance_network_cost_lamports'],
  collect: async () => {
    const sums = await sumPlatformCosts(pool, daysFrom(clock()));
    const of = (kind: string) => sums.find((sum) => sum.kind === kind);
    return PAID_KINDS.flatMap((kind) =>
      COST_PARTS.map((part) => ({
        metric: 'quittance_network_cost_lamports',
        value: Number(of(kind)?.[`${part}_lamports`] ?? 0n),
        labels: { kind, part },
      })),
    );
  },
});

/**
 * Collects the fee payer's balance. It is cached, so that frequent scrapes do not become frequent
 * RPC calls.
 */
export const collectFeePayer = (lamportsOf: () => Promise<number>): GaugeCollector => ({
  name: 'fee_payer',
  metrics: ['quittance_fee_payer_lamports'],
  collect: async () => [{ metric: 'quittance_fee_payer_lamports', value: await lamportsOf() }],
});

/** Collects the last comparison of chain and records. Without one there is no series. */
export const collectReconcile = (pool: Pool): GaugeCollector => ({
  name: 'reconcile',
  metrics: ['quittance_reconcile_age_seconds', 'quittance_reconcile_drift'],
  collect: async () => {
    const last = await findLastReconcile(pool);
    return last === null
      ? []
      : [
          { metric: 'quittance_reconcile_age_seconds', value: last.age_seconds },
          { metric: 'quittance_reconcile_drift', value: last.drift },
        ];
  },
});
