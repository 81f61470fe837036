import type { Actors, Client } from './client.ts';
import type { ClientLog } from './client-log.ts';
import type { Harness } from './harness.ts';
import type { Break } from './invariants.ts';
import type { Rng } from './rng.ts';

/** What faults work on. A break that a fault detects itself goes into `breaks`. */
export type Fixture = {
  harness: Harness;
  clientLog: ClientLog;
  client: Client;
  actors: Actors;
  breaks: Break[];
};

/** Removes the fault. Its effects may take longer to recover. */
type Heal = () => Promise<void>;

export type Fault = {
  name: string;
  /** How long it lasts, in milliseconds from and to. The seed decides. */
  holdMs: readonly [from: number, to: number];
  /**
   * Null: the fault did not happen, because its process was unavailable or no process passed the
   * failpoint.
   */
  inject: (rng: Rng) => Promise<Heal | null>;
};

/** A momentary fault, which needs no removal. */
export const over: Heal = async () => {};
