import { useState } from 'react';
import { ApiError, type Client } from '../../../sdk/src/main.ts';
import { session } from '../api/store.ts';
import { useAskedAgain } from './asked-again.ts';
import type { LinkAddress } from './link.ts';
import { type Offered, proofIn } from './proof.ts';
import { ofAccount, ofWallet, type Refusal } from './refusals.ts';
import { forgetSecret } from './secret.ts';
import { TEXTS } from './texts.ts';

/**
 * The payment of a link by this tab. It is kept until the tab is closed, so that a reload follows
 * the payment that was begun and offers no second one.
 */

/** What the page shows of a payment when its quote is gone. */
type Bought = Offered & {
  vendor: string;
  title: string;
  successUrl: string | null;
  isSingleUse: boolean;
};
/** What a wallet has signed. It is sent again until the outcome is known. */
type Signed = { token: string; transaction: string; secret: string; bought: Bought };
/** What an account pays. It is settled again, by this account, until the outcome is known. */
export type ByAccount = { token: string; attempt: string; accountId: string; email: string; bought: Bought };
export type Done = { settlementId: string; receiptUrl: string; bought: Bought };
type Kept = { signed: Signed } | { byAccount: ByAccount } | { done: Done };
/** What the API says of a payment on chain. */
export type Confirmed = { settlementId: string; receiptUrl: string | null };

const keyOf = ({ environment, paymentLinkId }: LinkAddress): string =>
  `quittance.link.${environment}.${paymentLinkId}`;

const readKept = (link: LinkAddress): Kept | null => {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(link)) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
};

type Api = Pick<Client, 'settlement'>;

/** Null: not confirmed yet. */
const sendSigned = async (
  { settlement }: Api,
  { environment }: LinkAddress,
  { token, transaction, secret }: Signed,
): Promise<Confirmed | null> => {
  const paid = await settlement.payLink({ environment, quote_token: token, secret, transaction });
  if (paid.status === 'pending') return null;
  return { settlementId: paid.settlement_id, receiptUrl: paid.receipt_url };
};

/** The same for the payment of the account that is signed in. */
const settleAgain = async ({ settlement }: Api, { token, attempt }: ByAccount): Promise<Confirmed | null> => {
  const paid = await settlement.settle({ quote_token: token, payment_attempt_id: attempt });
  if (paid.status !== 'confirmed') return null;
  const { settlement_id } = paid;
  const receipt = await settlement.getReceipt({ settlement_id }).catch(() => null);
  return { settlementId: settlement_id, receiptUrl: receipt?.receipt_url ?? null };
};

/**
 * The refusal after which this payment can never be made. Null: it may be made or have been made,
 * so that nothing else is offered.
 */
const endOf = (error: unknown, by: 'wallet' | 'account'): Refusal | null => {
  if (!(error instanceof ApiError)) return null;
  const { code, message, moneyMoved } = error;
  // The quote is paid, and not by what this tab keeps.
  if (code === 'quote_already_settled' && moneyMoved !== 'unknown')
    return { text: TEXTS.linkPaid, todo: 'vendor' };
  if (moneyMoved !== 'no') return null;
  return by === 'wallet' ? ofWallet(code, message) : ofAccount(error);
};

/** What this tab has paid of a link, and what follows a payment that was begun. */
export const useLinkPayment = (link: LinkAddress) => {
  const [kept, setKept] = useState(() => readKept(link));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const keep = (now: Kept | null) => {
    if (now === null) sessionStorage.removeItem(keyOf(link));
    else sessionStorage.setItem(keyOf(link), JSON.stringify(now));
    setKept(now);
  };
  const begin = (now: Kept) => {
    setRefusal(null);
    keep(now);
  };
  const end = (why: Refusal) => {
    setRefusal(why);
    keep(null);
  };

  /** Says that it is paid after the receipt has proven that, and not before. Null: not yet. */
  const conclude = async (paid: Confirmed | null, bought: Bought): Promise<(() => void) | null> => {
    if (paid === null) return null;
    const { settlementId, receiptUrl } = paid;
    const proof = await proofIn(receiptUrl, settlementId, { ...link, ...bought });
    if (proof === null) return null;
    return () => {
      forgetSecret(link);
      if (proof === 'paid') keep({ done: { settlementId, receiptUrl: receiptUrl!, bought } });
      else end({ text: TEXTS.otherPayment, todo: 'vendor' });
    };
  };
  const carriedOut = async (
    by: 'wallet' | 'account',
    pay: (client: Api) => Promise<Confirmed | null>,
    bought: Bought,
  ) => {
    try {
      return await conclude(await pay(session.get().client), bought);
    } catch (error) {
      const why = endOf(error, by);
      return why === null ? null : () => end(why);
    }
  };

  const signed = kept !== null && 'signed' in kept ? kept.signed : null;
  useAskedAgain(signed?.transaction ?? null, () =>
    carriedOut('wallet', (client) => sendSigned(client, link, signed!), signed!.bought),
  );
  const byAccount = kept !== null && 'byAccount' in kept ? kept.byAccount : null;
  return {
    isUnderWay: signed !== null,
    byAccount,
    done: kept !== null && 'done' in kept ? kept.done : null,
    refusal,
    send: (payment: Signed) => begin({ signed: payment }),
    settle: (payment: ByAccount) => begin({ byAccount: payment }),
    /** Called again and again while the account of the payment is signed in. */
    settleAgain: () => carriedOut('account', (client) => settleAgain(client, byAccount!), byAccount!.bought),
    conclude,
    again: () => keep(null),
  };
};
