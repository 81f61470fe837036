import type { Consumer, Vendor } from '../../../deploy/local/seed/actors.ts';
import { CEILING, type Tab as Settlement, type TabQuote } from '../../support/actors/tab-calls.ts';

/** A buyer. A cheater empties its wallet, or takes its allowance back, while a tab is used. */
export type Buyer = {
  consumer: Consumer;
  /** The key of its agent. A sign-in ends before a long campaign does. */
  key: string;
  cheats: boolean;
  /** It has paid nothing yet, and tries to have more open than such a payer may. */
  isNew?: boolean;
  /** A cheater could not put its money back, for instance because of a fork. */
  isElsewhere?: boolean;
};

/** Uses that a vendor reported together, in micro-units. Use `i` has the id `number/i`. */
export type Report = { number: number; amounts: readonly number[]; isCounted: boolean };

/** A quote by which the buyer of a tab extends its ceiling, and what it was told of it. */
export type Extension = {
  attemptId: string;
  quote: TabQuote;
  /** Whether its buyer knows what became of it. */
  isDecided: boolean;
  /** Whether it was answered with 200: it is part of the ceiling. */
  isCounted: boolean;
  /** Its record, and the ceilings that were named with it. */
  ids: Set<string>;
  ceilings: Set<string>;
};

/** How its vendor ends a tab. Left: its threshold, its window or a cheater ends it. */
export type End = 'captured' | 'captured beyond the use' | 'given up' | 'left';

/** An authorization, and what its buyer and its vendor were told about it. */
export type Tab = {
  attemptId: string;
  buyer: Buyer;
  vendor: Vendor;
  quote: TabQuote;
  end: End;
  from: number;
  to: number;
  /** Null: nobody was told that it is authorized. */
  settlement: Settlement | null;
  /** Whether its buyer knows what became of the attempt. */
  isDecided: boolean;
  reports: Report[];
  extensions: Extension[];
  /** Amounts that its vendor asked for, beyond what was used. */
  asked: Set<string>;
  /** Amounts that its vendor was told are captured. */
  captured: Set<string>;
  /** Whether its vendor said that it gives up what was used. */
  isGivenUp: boolean;
  isVoided: boolean;
};

/** Everything that the clients of tabs did and were told. */
export type TabLog = { tabs: Tab[]; answers: Map<string, number> };

/** The ceiling of a tab as its buyer was told. */
export const ceilingOf = ({ extensions }: Tab): bigint =>
  extensions
    .filter(({ isCounted }) => isCounted)
    .reduce((sum, { quote }) => sum + BigInt(quote.max_amount), CEILING);

export const createTabLog = (): TabLog => ({ tabs: [], answers: new Map() });

/** The id of a use. */
export const usageId = (report: number, at: number): string => `${report}/${at}`;

export const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0);
