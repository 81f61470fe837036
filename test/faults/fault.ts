import type { Actors, Client } from './client.ts';
import type { ClientLog } from './client-log.ts';
import type { Harness } from './harness.ts';
import type { Break } from './invariants.ts';
import type { Rng } from './rng.ts';

/** What faults work on; what they themselves see break goes into `breaks`. */
export type Fixture = {
  harness: Harness;
  clientLog: ClientLog;
  client: Client;
  actors: Actors;
  breaks: Break[];
};

/** Takes the fault away; what it broke may take longer to recover. */
type Heal = () => Promise<void>;

export type Fault = {
  name: string;
  /** How long it stands, milliseconds from and to; the seed chooses. */
  holdMs: readonly [from: number, to: number];
  /** Null: it did not come about, because its victim was away or nobody came by. */
  inject: (rng: Rng) => Promise<Heal | null>;
};

/** A blow: nothing stands, nothing has to be taken away. */
export const over: Heal = async () => {};
