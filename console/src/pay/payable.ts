import type { ReactNode } from 'react';
import type { QuoteClaims } from '../../../sdk/src/checks/tokens.ts';
import type { Client } from '../../../sdk/src/main.ts';
import type { Terms } from './wallets/by-wallet.ts';
import type { Phone } from './wallets/phone.ts';

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
  /** Whether a wallet cannot pay it any more, and whether nobody can. */
  isOfferExpired: boolean;
  isExpired: boolean;
  /** Gets a price that can be paid. */
  newPrice: ReactNode;
  /** The same by the page itself, which leaves it. Null: the page renews its price in place. */
  renew: (() => Promise<void>) | null;
  /** The order, as its renewals are kept. */
  of: string;
  /** Whether the API has refused the account's payment for want of an allowance. */
  isShort: boolean;
  /** The page of the vendor. Null: the vendor has named none. */
  vendorUrl: string | null;
  /** The address that a phone opens. */
  address: string;
  addressAbout: string;
  /** The code for the wallet of a phone. Null: the phone opens the address. */
  phone: Phone | null;
};
