import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/metrics.ts';
import { getDueBacklog } from './store.ts';

/** Gauges of the due deliveries to endpoints that answer, and of their age. */
export const deliveryGauges = (pool: Pool): GaugeCollector => ({
  name: 'deliveries',
  metrics: ['settle.webhook.due', 'settle.webhook.oldest_due_age'],
  collect: async () => {
    const { deliveries, oldest_age } = await getDueBacklog(pool);
    return [
      { metric: 'settle.webhook.due', value: Number(deliveries) },
      { metric: 'settle.webhook.oldest_due_age', value: oldest_age },
    ];
  },
});
