import type { Inspection } from '../../shared/contract/operator.ts';
import type { Operator } from './connect.ts';

type Row = readonly string[];
/** A table for people. The first row is the head. */
export type Table = readonly Row[];

/**
 * The output of a command: JSON for programs, text for people. `code`: an exit code other than 0.
 */
export type CommandOutput = { json: unknown; text: string; code?: number };

/** The reason of a change. The services know its author. */
export type Attribution = { reason: string };

/** A planned change that is not made yet. */
export type Plan = {
  /**
   * What will change: a head, then a row per object with both states. Null: nothing will change.
   */
  table: Table | null;
  /** What the change means, and what it does not affect. */
  notes: readonly string[];
  make: (attribution: Attribution) => Promise<CommandOutput>;
};

type Options = {
  /**
   * Why the operator looks at a person: of --ticket, or the reason of a change. Null: no command
   * that needs it is run.
   */
  inspection: Inspection | null;
  all: boolean;
  /** Whether uses are listed, and not what can be used. */
  used: boolean;
  limit: number;
  seconds: number;
  /** The account whose attempt is named, or whose payments are listed. */
  account: string | null;
  /** A month or a day, as it was written. */
  period: string | null;
  /** From when on records are listed. */
  since: string | null;
  /** Where JSON log lines are: a file, a folder, or `-` for stdin. */
  logs: string;
  /** The page of traces of the stack on this machine. */
  traces: string | null;
  /** The file of an earlier check of the record of actions. */
  known: string | null;
};

/** The look as a field of a call. Without one the service refuses what needs it. */
export const inspectionInput = (inspection: Inspection | null): { inspection?: Inspection } =>
  inspection === null ? {} : { inspection };

/** A command. A change is planned first, so that the operator sees it before it is made. */
export type Command = {
  /** For example `limits set`. */
  name: string;
  /** The arguments after the name: `<account_id> <factor>`. */
  args: string;
  summary: string;
  details: string;
  /** It shows something about a person, so it needs --ticket. */
  inspects?: true;
} & (
  | { show: (operator: Operator, args: readonly string[], options: Options) => Promise<CommandOutput> }
  // Without the bus, so that it works while nothing else does.
  | { read: (args: readonly string[], options: Options) => Promise<CommandOutput> }
  | { plan: (operator: Operator, args: readonly string[], options: Options) => Promise<Plan> }
);
