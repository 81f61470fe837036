import { type HourlyLimits, measureCapUse } from '../../../shared/db/hourly-caps.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/telemetry/metrics.ts';
import { ATTEMPT_STATES } from '../../../shared/lib/telemetry/metrics-catalog.ts';
import { countAttemptsUnderWay } from '../record/store/attempts-under-way.ts';
import { getBackupAges, getPausedSeconds } from './store.ts';

/** The attempts under way and what they hold, queried at each scrape. */
export const collectAttempts = (pool: Pool): GaugeCollector => ({
  name: 'attempts',
  metrics: [
    'quittance_attempts',
    'quittance_attempts_oldest_age_seconds',
    'quittance_held_micro_usdc',
    'quittance_holding_wallets',
  ],
  collect: async () => {
    const rows = await countAttemptsUnderWay(pool);
    const of = (state: string | null) => rows.find((row) => row.state === state);
    return [
      { metric: 'quittance_held_micro_usdc', value: Number(of(null)?.held ?? 0n) },
      { metric: 'quittance_holding_wallets', value: Number(of(null)?.holding_wallets ?? 0n) },
      // A state without attempts is reported as 0. A missing series would look like a failed
      // scrape.
      ...ATTEMPT_STATES.map((state) => ({
        metric: 'quittance_attempts' as const,
        value: Number(of(state)?.attempts ?? 0n),
        labels: { state },
      })),
      ...ATTEMPT_STATES.map((state) => ({
        metric: 'quittance_attempts_oldest_age_seconds' as const,
        value: of(state)?.oldest_age ?? 0,
        labels: { state },
      })),
    ];
  },
});

/** For how long the operators have paused new payments. */
export const collectIntake = (pool: Pool): GaugeCollector => ({
  name: 'intake',
  metrics: ['quittance_intake_paused_seconds'],
  collect: async () => [{ metric: 'quittance_intake_paused_seconds', value: await getPausedSeconds(pool) }],
});

/**
 * The ages of the last copy and of the last drill that succeeded, whether the last drill did, and
 * the age of the archived log. What an installation does not have is not reported.
 */
export const collectBackups = (pool: Pool): GaugeCollector => ({
  name: 'backups',
  metrics: [
    'quittance_backup_age_seconds',
    'quittance_archive_age_seconds',
    'quittance_restore_drill_age_seconds',
    'quittance_restore_drill_ok',
  ],
  collect: async () => {
    const { backup_age, archive_age, drill_age, drill_ok } = await getBackupAges(pool);
    const found = [
      ['quittance_backup_age_seconds', backup_age],
      ['quittance_archive_age_seconds', archive_age],
      ['quittance_restore_drill_age_seconds', drill_age],
      ['quittance_restore_drill_ok', drill_ok === null ? null : Number(drill_ok)],
    ] as const;
    return found.flatMap(([metric, value]) => (value === null ? [] : [{ metric, value }]));
  },
});

/** The used part of the hourly caps. */
export const collectCaps = (pool: Pool, limits: HourlyLimits): GaugeCollector => ({
  name: 'caps',
  metrics: ['quittance_cap_used_ratio'],
  collect: () => measureCapUse(pool, limits),
});
