import type { ReactNode } from 'react';
import type { Client } from '../../../sdk/src/main.ts';
import type { QuoteClaims } from '../../../sdk/src/tokens.ts';
import type { Terms } from './by-wallet.ts';

type Settled = Awaited<ReturnType<Client['settlement']['settle']>>;
/**
 * What an account does. The page of an order pays its one quote, again by the same attempt after a
 * reload. A link has another quote then, so its page keeps what is begun, and follows that.
 */
type ByAccount =
  | { onPaid: (settlement: Settled) => void }
  | { begin: (attempt: string, account: { account_id: string; email: string }) => void };

/** A verified quote, and what becomes of its payment. */
export type Payable = {
  token: string;
  claims: QuoteClaims;
  /** Null: only an account can pay. */
  terms: Terms | null;
  /** Called with the transaction that a wallet has signed. */
  onSigned: (transaction: string) => void;
  byAccount: ByAccount;
  /** What to do when the quote cannot be paid any more. */
  elsewhere: ReactNode;
  /** The address that a phone opens. */
  address: string;
  /** The code for the wallet of a phone. Null: the phone opens the address. */
  byPhone: ReactNode;
};
