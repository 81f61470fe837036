import { gauge } from './metric.ts';

/** The metrics of copies, archive and drills, which settlement reads from its tables. */
export const BACKUP_METRICS = {
  quittance_backup_age_seconds: gauge(
    's',
    ['settlement'],
    {},
    'Time since the moment of the last copy that the job `backup` has written; absent without one.',
  ),
  quittance_archive_age_seconds: gauge(
    's',
    ['settlement'],
    {},
    'Time since Postgres has archived a part of its log; absent without an archive.',
  ),
  quittance_restore_drill_age_seconds: gauge(
    's',
    ['settlement'],
    {},
    'Time since a copy was restored by the job `drill` and found good; absent without one.',
  ),
  quittance_restore_drill_ok: gauge(
    '1',
    ['settlement'],
    {},
    '1 if the last run of the job `drill` has found its copy good, otherwise 0; absent without one.',
  ),
};
