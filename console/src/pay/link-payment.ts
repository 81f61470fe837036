import { useEffect, useState } from 'react';
import { ApiError, type Client } from '../../../sdk/src/main.ts';
import { session } from '../session/store.ts';
import type { LinkAddress } from './link.ts';
import { sentenceOf, TEXTS } from './texts.ts';

/**
 * The payment of a link by this tab. It is kept until the tab is closed, so that a reload follows
 * the payment that was signed and offers no second one.
 */

/** What the page shows of a payment when its quote is gone. */
type Bought = {
  vendor: string;
  title: string;
  /** Micro-units. */
  amount: string;
  successUrl: string | null;
  isSingleUse: boolean;
};
/** What is sent again until the outcome is known. */
type Signed = { token: string; transaction: string; bought: Bought };
export type Done = { settlementId: string; receiptUrl: string | null; bought: Bought };
type Kept = { signed: Signed } | { done: Done };

const AGAIN_MS = 2000;
/** How often a payment without a receipt is asked for it. The payment is made all the same. */
const RECEIPT_ATTEMPTS = 5;

const keyOf = ({ environment, paymentLinkId }: LinkAddress): string =>
  `quittance.link.${environment}.${paymentLinkId}`;

const readKept = (link: LinkAddress): Kept | null => {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(link)) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
};

/**
 * @param attempts how often it was sent before
 * @returns the outcome; null: it is not known yet, or has no receipt yet
 * @throws Error with a sentence, if it failed
 */
const carryOut = async (
  client: Pick<Client, 'settlement'>,
  { environment }: LinkAddress,
  { token, transaction, bought }: Signed,
  attempts: number,
): Promise<Done | null> => {
  try {
    const paid = await client.settlement.payLink({ environment, quote_token: token, transaction });
    if (paid.status === 'pending') return null;
    if (paid.receipt_url === null && attempts < RECEIPT_ATTEMPTS) return null;
    return { settlementId: paid.settlement_id, receiptUrl: paid.receipt_url, bought };
  } catch (error) {
    // Without an answer, and while it is unknown whether money has moved, nothing else is signed.
    if (!(error instanceof ApiError) || error.moneyMoved !== 'no') return null;
    if (error.code === 'quote_already_settled') throw new Error(TEXTS.linkPaid, { cause: error });
    throw new Error(sentenceOf(error.code, error.message), { cause: error });
  }
};

/** What this tab has paid of a link, and what follows a signed transaction. */
export const useLinkPayment = (link: LinkAddress) => {
  const [kept, setKept] = useState(() => readKept(link));
  const [problem, setProblem] = useState<string | null>(null);
  const keep = (now: Kept | null) => {
    if (now === null) sessionStorage.removeItem(keyOf(link));
    else sessionStorage.setItem(keyOf(link), JSON.stringify(now));
    setKept(now);
  };
  const signed = kept !== null && 'signed' in kept ? kept.signed : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows one signed transaction
  useEffect(() => {
    if (signed === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    let attempts = 0;
    const attempt = async (): Promise<void> => {
      try {
        const done = await carryOut(session.get().client, link, signed, attempts++);
        if (isOver) return;
        if (done !== null) keep({ done });
        else timer = setTimeout(() => void attempt(), AGAIN_MS);
      } catch (error) {
        if (isOver) return;
        setProblem((error as Error).message);
        keep(null);
      }
    };
    void attempt();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [signed?.transaction]);
  return {
    isUnderWay: signed !== null,
    done: kept !== null && 'done' in kept ? kept.done : null,
    problem,
    send: (payment: Signed) => {
      setProblem(null);
      keep({ signed: payment });
    },
    finish: (done: Done) => keep({ done }),
    again: () => keep(null),
  };
};
