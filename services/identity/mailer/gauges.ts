import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/telemetry/metrics.ts';
import { getMailBacklog } from '../mails/store.ts';

/** Gauges of the mails that wait to be sent. */
export const mailGauges = (pool: Pool): GaugeCollector => ({
  name: 'mails',
  metrics: ['quittance_mails_queued', 'quittance_mails_oldest_age_seconds'],
  collect: async () => {
    const { mails, oldest_age } = await getMailBacklog(pool);
    return [
      { metric: 'quittance_mails_queued', value: Number(mails) },
      { metric: 'quittance_mails_oldest_age_seconds', value: oldest_age },
    ];
  },
});
