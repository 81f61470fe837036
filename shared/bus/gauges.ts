import { z } from 'zod';
import type { BusUser } from '../contract/service.ts';
import type { GaugeValues } from '../lib/telemetry/metrics.ts';
import type { Bus } from './connect.ts';
import { answerEach, askEach } from './each.ts';

/** Longer than a process waits for its collectors (shared/lib/telemetry/metrics.ts). */
const ANSWER_WITHIN_MS = 1_500;

/**
 * The gauges of a process at one moment. A metric that another version has is a name as any other.
 */
const Gauges = z.object({
  program: z.string(),
  replica_id: z.string(),
  values: z.array(
    z.object({
      metric: z.string(),
      value: z.number(),
      labels: z.record(z.string(), z.string()).optional(),
    }),
  ),
  /** Collectors that could not be read in time. */
  failed: z.array(z.string()),
});
export type Gauges = z.infer<typeof Gauges>;

/** Has this process answer operators who ask for its gauges: what a scrape would read now. */
export const answerGauges = (bus: Bus, read: () => Promise<GaugeValues>): void =>
  answerEach(bus, 'gauges', async () => ({
    program: bus.user,
    replica_id: bus.replicaId,
    ...(await read()),
  }));

/**
 * Asks every process of some programs for its gauges.
 * @param bus of an operator
 */
export const askGauges = async (bus: Bus, programs: readonly BusUser[]): Promise<Gauges[]> =>
  (await askEach(bus, programs, 'gauges', ANSWER_WITHIN_MS)).flatMap(
    (answer) => Gauges.safeParse(answer).data ?? [],
  );
