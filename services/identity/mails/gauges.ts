import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/metrics.ts';
import { getMailBacklog } from './store.ts';

/** Gauges of the mails that wait to be sent. */
export const mailGauges = (pool: Pool): GaugeCollector => ({
  name: 'mails',
  metrics: ['settle.mails.queued', 'settle.mails.oldest_age'],
  collect: async () => {
    const { mails, oldest_age } = await getMailBacklog(pool);
    return [
      { metric: 'settle.mails.queued', value: Number(mails) },
      { metric: 'settle.mails.oldest_age', value: oldest_age },
    ];
  },
});
