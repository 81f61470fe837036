import type { Pool } from '../../shared/db/pool.ts';
import type { GaugeCollector } from '../../shared/lib/metrics.ts';
import { mailBacklog } from './store/mails.ts';

/** The mails that wait to be sent. */
export const collectMails = (pool: Pool): GaugeCollector => ({
  name: 'mails',
  metrics: ['settle.mails.queued', 'settle.mails.oldest_age'],
  collect: async () => {
    const { mails, oldest_age } = await mailBacklog(pool);
    return [
      { metric: 'settle.mails.queued', value: Number(mails) },
      { metric: 'settle.mails.oldest_age', value: oldest_age },
    ];
  },
});
