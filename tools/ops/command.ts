import type { Operator } from './connect.ts';

export type Row = readonly string[];
/** A table as a person reads it: the first row is its head. */
export type Table = readonly Row[];

/** What a command says: JSON for programs, and the same for people. `code`: an exit code other than 0. */
export type Said = { json: unknown; text: string; code?: number };

/** What every change carries. */
export type Signed = { actor: string; reason: string };

/** A change that was looked at and not made yet. */
export type Planned = {
  /** What will be different: head, then one row per thing, now and then. Null: it is so already. */
  table: Table | null;
  /** What it means, and what it does not touch. */
  notes: readonly string[];
  make: (signed: Signed) => Promise<Said>;
};

export type Options = { all: boolean; limit: number; seconds: number };

/** One command. Those that change something plan first: what will happen is shown before it does. */
export type Command = {
  /** As it is typed: `limits set`. */
  name: string;
  /** The words after the name: `<account_id> <factor>`. */
  words: string;
  summary: string;
  details: string;
} & (
  | { show: (operator: Operator, words: readonly string[], options: Options) => Promise<Said> }
  | { plan: (operator: Operator, words: readonly string[], options: Options) => Promise<Planned> }
);
