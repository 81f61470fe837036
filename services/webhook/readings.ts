import type { Pool } from '../../shared/db/pool.ts';
import type { GaugeCollector } from '../../shared/lib/metrics.ts';
import { dueBacklog } from './store/deliveries.ts';

/** What should be on its way to endpoints that answer, and since when. */
export const collectDeliveries = (pool: Pool): GaugeCollector => ({
  name: 'deliveries',
  metrics: ['settle.webhook.due', 'settle.webhook.oldest_due_age'],
  collect: async () => {
    const { deliveries, oldest_age } = await dueBacklog(pool);
    return [
      { metric: 'settle.webhook.due', value: Number(deliveries) },
      { metric: 'settle.webhook.oldest_due_age', value: oldest_age },
    ];
  },
});
