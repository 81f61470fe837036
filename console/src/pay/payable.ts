import type { ReactNode } from 'react';
import type { Client } from '../../../sdk/src/main.ts';
import type { QuoteClaims } from '../../../sdk/src/tokens.ts';
import type { Terms } from './by-wallet.ts';

/** A verified quote, and what becomes of its payment. */
export type Payable = {
  token: string;
  claims: QuoteClaims;
  /** Null: only an account can pay. */
  terms: Terms | null;
  /** Called with the transaction that a wallet has signed. */
  onSigned: (transaction: string) => void;
  /** Called with the settlement of an account's payment. */
  onPaid: (settlement: Awaited<ReturnType<Client['settlement']['settle']>>) => void;
  /** What to do when the quote cannot be paid any more. */
  elsewhere: ReactNode;
  /** The address that a phone opens. */
  address: string;
  /** The code for the wallet of a phone. Null: the phone opens the address. */
  byPhone: ReactNode;
};
