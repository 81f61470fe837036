import type { Step } from './log.ts';

/** What buyers try who want goods for less than their price. */

/** How an attacker makes a call. `repeats`: ten times with one id, at both replicas. */
export const FORMS = ['plain', 'upgrade x', 'upgrade h2c', 'stalls', 'leaves', 'repeats'] as const;
export type Form = (typeof FORMS)[number];

/**
 * What an attacker buys: calls of a tab whose answers name their price, the same without stored
 * answers, calls of a tab with a fixed price, or an answer with a fixed price of its own.
 */
export const WARES = ['tab', 'again', 'fixed', 'goods'] as const;
export type Ware = (typeof WARES)[number];

/**
 * What happens meanwhile: a process dies at a step of the first call, or between the report of a
 * call and its record; or the API refuses reports of use while the tab ends at the other replica.
 */
export type Mishap =
  | { kind: 'none' }
  | { kind: 'dies'; victim: 'gate' | 'upstream'; at: Step }
  | { kind: 'dies unrecorded' }
  | { kind: 'reports refused'; status: 429 | 503; forMs: number };

export const mishapName = (mishap: Mishap): string =>
  mishap.kind === 'dies' ? `${mishap.victim} dies at ${mishap.at}` : mishap.kind;

/** One request as its buyer saw it. */
export type Try = {
  form: Form;
  id: string;
  replica: number;
  from: number;
  /** When the buyer had it, left it or lost it. Null: it is under way. */
  to: number | null;
  /** Null: no answer came. */
  status: number | null;
  reason: string | null;
  /** The buyer had a first byte. */
  hasBegun: boolean;
  isWhole: boolean;
  /** The upgrade was accepted. */
  isSwitched: boolean;
};

/** What one attacker buys with one payment. */
export type Attack = {
  ware: Ware;
  mishap: Mishap;
  buyer: string;
  path: string;
  resource: string;
  settlementId: string | null;
  from: number;
  to: number;
  tries: Try[];
  runs: number;
  deliveries: Set<string>;
  /** Its mishap has happened. */
  isMet: boolean;
};

/** Deaths of the processes of the attackers. */
export type Deaths = { gates: { replica: number; at: number }[]; upstream: number[] };

/** Each call of an attacker's tab names this price, or has it. It is more than the fee. */
export const TAB_PRICE = 12_000n;
export const CEILING = 200_000n;
export const GOODS_PRICE = 50_000n;
