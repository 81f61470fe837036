import type { Rng } from './rng.ts';

/** Takes the fault away; what it broke may take longer to recover. */
export type Heal = () => Promise<void>;

export type Fault = {
  name: string;
  /** How long it stands, milliseconds from and to; the seed chooses. */
  holdMs: readonly [from: number, to: number];
  /** Null: it did not come about, because its victim was away or nobody came by. */
  inject: (rng: Rng) => Promise<Heal | null>;
};

/** A blow: nothing stands, nothing has to be taken away. */
export const over: Heal = async () => {};
