import type { Pool } from '../../../shared/db/pool.ts';
import type { GaugeCollector } from '../../../shared/lib/telemetry/metrics.ts';
import { getDueBacklog } from './store.ts';

/** Gauges of the due deliveries to endpoints that answer, and of their age. */
export const deliveryGauges = (pool: Pool): GaugeCollector => ({
  name: 'deliveries',
  metrics: ['quittance_webhook_due', 'quittance_webhook_oldest_due_age_seconds'],
  collect: async () => {
    const { deliveries, oldest_age } = await getDueBacklog(pool);
    return [
      { metric: 'quittance_webhook_due', value: Number(deliveries) },
      { metric: 'quittance_webhook_oldest_due_age_seconds', value: oldest_age },
    ];
  },
});
