import type { Pool } from '../../shared/db/pool.ts';
import type { Announced } from './announced.ts';
import type { Bus } from './bus.ts';
import type { Chain } from './chain.ts';
import { type Harness, isMistake, type Process } from './harness.ts';

type Statement = { sql: string; values: readonly unknown[] };
type Row = { subject: string; msg_id: string; payload: never };

const CONFIRM = "update intents i set status = 'confirmed'";

/** The events of the statement that confirms payments to settlement; none for any other. */
const confirmationsIn = ({ sql, values: [rows] }: Statement): Row[] =>
  sql.includes(CONFIRM)
    ? (JSON.parse(rows as string) as Row[]).filter(({ subject }) => subject.endsWith('.settleProgressed'))
    : [];

/**
 * Mutation: the database of a process that publishes `confirmed` before it is recorded. The process
 * often dies in between, and a fork often follows. Together they are too rare to happen by chance.
 */
export const publishFirst = (
  harness: Harness,
  { bus, chain, announced, process }: { bus: Bus; chain: Chain; announced: Announced; process: Process },
  pool: Pool,
): Pool => {
  const { random } = harness;
  const execute = pool.any as unknown as (statement: Statement) => Promise<unknown>;
  const publish = async (row: Row): Promise<void> => {
    const onStored = () => announced.note(row.msg_id, row.payload);
    await bus.publish(process, { ...row, outbox_id: 0n, traceparent: null }, onStored);
    if (random.chance(0.3)) harness.schedule(random.between(0, 2000), () => chain.fork(random.int(2, 28)));
    if (random.chance(0.3)) harness.crash(process);
  };
  const any = async (statement: Statement): Promise<unknown> => {
    // What could not be published is in the outbox, as always.
    await Promise.all(confirmationsIn(statement).map(publish)).catch((error: unknown) => {
      if (isMistake(error)) throw error;
    });
    return execute(statement);
  };
  return { ...pool, any } as unknown as Pool;
};
