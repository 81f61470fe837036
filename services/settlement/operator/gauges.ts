import { type HourlyLimits, measureCapUse } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/metrics.ts';
import { ATTEMPT_STATES } from '../../../shared/lib/metrics-catalog.ts';
import { countAttemptsUnderWay } from '../settlements/store/attempts-under-way.ts';
import { getPausedSeconds } from './store.ts';

/** The attempts under way and what they hold, queried at each scrape. */
export const collectAttempts = (pool: Pool): GaugeCollector => ({
  name: 'attempts',
  metrics: [
    'settle.attempts',
    'settle.attempts.oldest_age',
    'settle.held_micro_usdc',
    'settle.holding_wallets',
  ],
  collect: async () => {
    const rows = await countAttemptsUnderWay(pool);
    const of = (state: string | null) => rows.find((row) => row.state === state);
    return [
      { metric: 'settle.held_micro_usdc', value: Number(of(null)?.held ?? 0n) },
      { metric: 'settle.holding_wallets', value: Number(of(null)?.holding_wallets ?? 0n) },
      // A state without attempts is reported as 0. A missing series would look like a failed
      // scrape.
      ...ATTEMPT_STATES.map((state) => ({
        metric: 'settle.attempts' as const,
        value: Number(of(state)?.attempts ?? 0n),
        labels: { state },
      })),
      ...ATTEMPT_STATES.map((state) => ({
        metric: 'settle.attempts.oldest_age' as const,
        value: of(state)?.oldest_age ?? 0,
        labels: { state },
      })),
    ];
  },
});

/** For how long the operators have paused new payments. */
export const collectIntake = (pool: Pool): GaugeCollector => ({
  name: 'intake',
  metrics: ['settle.intake.paused_age'],
  collect: async () => [{ metric: 'settle.intake.paused_age', value: await getPausedSeconds(pool) }],
});

/** The used part of the hourly caps. */
export const collectCaps = (pool: Pool, limits: HourlyLimits): GaugeCollector => ({
  name: 'caps',
  metrics: ['settle.chain.cap_used_ratio'],
  collect: () => measureCapUse(pool, limits),
});
