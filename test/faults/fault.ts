import type { Break } from './break.ts';
import type { Harness } from './harness.ts';
import type { Actors, Client } from './own/client.ts';
import type { ClientLog } from './own/client-log.ts';
import type { Rng } from './rng.ts';

/**
 * What faults of our own clients work on. A break that a fault detects itself goes into `breaks`.
 */
export type Fixture = {
  harness: Harness;
  clientLog: ClientLog;
  client: Client;
  actors: Actors;
  breaks: Omit<Break, 'traffic'>[];
};

/** Removes the fault. Its effects may take longer to recover. */
type Heal = () => Promise<void>;

export type Fault = {
  name: string;
  /** How long it lasts, in milliseconds from and to. The seed decides. */
  holdMs: readonly [from: number, to: number];
  /** Nothing else is broken meanwhile. */
  isAlone?: boolean;
  /**
   * Null: the fault did not happen, because its process was unavailable or no process passed the
   * failpoint.
   */
  inject: (rng: Rng) => Promise<Heal | null>;
};

/** A momentary fault, which needs no removal. */
export const over: Heal = async () => {};
