import { KNOWN_ENVIRONMENTS } from './absence.ts';
import type { Alarms } from './alarm.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** A copy is written each day, and takes up to two hours. */
const BACKUP_SECONDS = 26 * HOUR;
/** A copy is restored each week. */
const DRILL_SECONDS = 8 * DAY;
const RECONCILE_SECONDS = 2 * DAY;
const of = (metric: string) => `${metric}{environment="test"}`;
const IN = { environment: 'test' };
const alive = { [`quittance_build_info${'{environment="test",service_name="settlement"}'}`]: '1x20000' };

/** Alarms about what must happen regularly: copies, their trial, the comparison of the books. */
export const AGES = {
  BackupOld: {
    severity: 'page',
    summary: 'The newest copy of the record is older than 26 hours',
    expr: `max by (environment) (quittance_backup_age_seconds) > ${BACKUP_SECONDS}`,
    for: '5m',
    fires: {
      series: { [of('quittance_backup_age_seconds')]: `${BACKUP_SECONDS + 1}x40` },
      at: '30m',
      labels: IN,
    },
    quiet: { series: { [of('quittance_backup_age_seconds')]: `${BACKUP_SECONDS}x40` }, at: '30m' },
  },
  ArchiveLate: {
    severity: 'page',
    summary: 'Postgres has archived nothing of its log for ten minutes',
    expr: 'max by (environment) (quittance_archive_age_seconds) > 600',
    for: '1m',
    fires: { series: { [of('quittance_archive_age_seconds')]: '601x40' }, at: '30m', labels: IN },
    quiet: { series: { [of('quittance_archive_age_seconds')]: '600x40' }, at: '30m' },
  },
  BackupMissing: {
    severity: 'ticket',
    summary: 'An environment has neither a copy nor an archive of its record',
    expr: `
      ${KNOWN_ENVIRONMENTS.record}
        unless on (environment) (quittance_backup_age_seconds or quittance_archive_age_seconds)`,
    for: '1d',
    fires: { series: alive, at: '30h', labels: IN },
    quiet: { series: { ...alive, [of('quittance_archive_age_seconds')]: '60x2000' }, at: '30h' },
  },
  DrillFailed: {
    severity: 'page',
    summary: 'The newest copy could not be restored, or is damaged',
    expr: 'min by (environment) (quittance_restore_drill_ok) == 0',
    for: '1m',
    fires: { series: { [of('quittance_restore_drill_ok')]: '0x40' }, at: '30m', labels: IN },
    quiet: { series: { [of('quittance_restore_drill_ok')]: '1x40' }, at: '30m' },
  },
  DrillOld: {
    severity: 'ticket',
    summary: 'No copy was restored and found good for eight days',
    expr: `max by (environment) (quittance_restore_drill_age_seconds) > ${DRILL_SECONDS}`,
    for: '5m',
    fires: {
      series: { [of('quittance_restore_drill_age_seconds')]: `${DRILL_SECONDS + 1}x40` },
      at: '30m',
      labels: IN,
    },
    quiet: { series: { [of('quittance_restore_drill_age_seconds')]: `${DRILL_SECONDS}x40` }, at: '30m' },
  },
  DrillMissing: {
    severity: 'ticket',
    summary: 'Copies are written, and none was ever restored',
    expr: `
      max by (environment) (quittance_backup_age_seconds)
        unless on (environment) quittance_restore_drill_age_seconds`,
    for: '8d',
    fires: { series: { [of('quittance_backup_age_seconds')]: '60x20000' }, at: '220h', labels: IN },
    quiet: {
      series: {
        [of('quittance_backup_age_seconds')]: '60x20000',
        [of('quittance_restore_drill_age_seconds')]: '_x10000 60x10000',
      },
      at: '220h',
    },
  },
  ReconcileDrift: {
    severity: 'page',
    summary: 'The last comparison of chain and records has found differences',
    expr: 'max by (environment) (quittance_reconcile_drift) > 0',
    for: '1m',
    fires: { series: { [of('quittance_reconcile_drift')]: '1x40' }, at: '30m', labels: IN },
    quiet: { series: { [of('quittance_reconcile_drift')]: '0x40' }, at: '30m' },
  },
  ReconcileOld: {
    severity: 'ticket',
    summary: 'Chain and records were not compared for two days',
    expr: `max by (environment) (quittance_reconcile_age_seconds) > ${RECONCILE_SECONDS}`,
    for: '5m',
    fires: {
      series: { [of('quittance_reconcile_age_seconds')]: `${RECONCILE_SECONDS + 1}x40` },
      at: '30m',
      labels: IN,
    },
    quiet: { series: { [of('quittance_reconcile_age_seconds')]: `${RECONCILE_SECONDS}x40` }, at: '30m' },
  },
} as const satisfies Alarms;
