import type { Pool } from '../../shared/db/pool.ts';
import type { Reading } from '../../shared/lib/metrics.ts';
import { INTENT_KINDS, INTENT_STATES } from '../../shared/lib/metrics-catalog.ts';
import { openWork, pauseAndSpending } from './store/work.ts';

/** The intents under way, read at each scrape. */
export const intentsReading = (pool: Pool): Reading => ({
  name: 'intents',
  metrics: ['settle.intents', 'settle.intents.oldest_age'],
  read: async () => {
    const work = await openWork(pool);
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
export const capsReading = (
  pool: Pool,
  caps: { walletMicro: bigint; environmentMicro: bigint; dailyLamports: bigint },
): Reading => ({
  name: 'caps',
  metrics: ['settle.chain.paused', 'settle.chain.cap_used_ratio'],
  read: async () => {
    const { paused, wallet_hour, environment_hour, lamports_day } = await pauseAndSpending(pool);
    const used = (cap: 'wallet_hour' | 'environment_hour' | 'lamports_day', taken: bigint, of: bigint) => ({
      metric: 'settle.chain.cap_used_ratio' as const,
      value: Number(taken) / Number(of),
      labels: { cap },
    });
    return [
      { metric: 'settle.chain.paused', value: paused ? 1 : 0 },
      used('wallet_hour', wallet_hour, caps.walletMicro),
      used('environment_hour', environment_hour, caps.environmentMicro),
      used('lamports_day', lamports_day, caps.dailyLamports),
    ];
  },
});

/** The fee payer's balance. Kept for a while, so that watchers do not become callers of the providers. */
export const feePayerReading = (lamportsOf: () => Promise<number>): Reading => ({
  name: 'fee_payer',
  metrics: ['settle.fee_payer_lamports'],
  read: async () => [{ metric: 'settle.fee_payer_lamports', value: await lamportsOf() }],
});
