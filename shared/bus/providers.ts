import { z } from 'zod';
import type { Bus } from './connect.ts';
import { answerEach, askEach } from './each.ts';

/**
 * What a replica of chain-submitter says of the providers of the chain. Another version may say
 * more.
 */
const Report = z.object({
  replica_id: z.string(),
  /** The calls of so many minutes are counted. */
  minutes: z.int(),
  providers: z.array(
    z.object({
      /** The place in SOLANA_RPC_URLS. A URL may contain an access key. */
      number: z.int(),
      answered: z.int(),
      unavailable: z.int(),
      refused: z.int(),
      last_answer_at: z.string().nullable(),
      last_failure_at: z.string().nullable(),
      last_failure: z.string().nullable(),
      /** The newest slot that it has reported. Absent: none yet. */
      slot: z.number().optional(),
      slot_age_seconds: z.number().optional(),
    }),
  ),
});
export type ProvidersReport = z.infer<typeof Report>;

/** Has this process answer operators who ask about the providers of the chain. */
export const answerProviders = (bus: Bus, report: () => Promise<Omit<ProvidersReport, 'replica_id'>>): void =>
  answerEach(bus, 'providers', async () => ({ replica_id: bus.replicaId, ...(await report()) }));

/**
 * Asks each replica of chain-submitter.
 * @param bus of an operator
 */
export const askProviders = async (bus: Bus): Promise<ProvidersReport[]> =>
  (await askEach(bus, ['chain-submitter'], 'providers')).flatMap(
    (answer) => Report.safeParse(answer).data ?? [],
  );
