import { useEffect, useState } from 'react';

/**
 * A price that runs out while somebody is paying is asked for again by the page itself. The tab
 * keeps what the price was, so that the page can tell whether it has changed.
 */

/** An open page does not ask for ever. After that the person does. */
const MOST = 3;

type Renewed = { amount: string; times: number };
const keyOf = (of: string): string => `quittance.renewed.${of}`;

/** What the price of an order was before it was renewed in this tab. Null: it was not. */
export const renewedOf = (of: string): Renewed | null => {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(of)) ?? 'null') as Renewed | null;
  } catch {
    return null;
  }
};

/** Keeps what the price was before a new one is asked for. */
const noteRenewal = (of: string, amount: string, times: number): void =>
  sessionStorage.setItem(keyOf(of), JSON.stringify({ amount, times } satisfies Renewed));

type Price = { of: string; amount: string; quoteId: string };

/**
 * Renews a price that has expired while the page is visible.
 * @param price the order, and its quote
 * @param isWanted whether the page may do it now: a navigation would end what a person is doing
 * @returns whether it is being renewed
 */
export const useRenewal = (
  { of, amount, quoteId }: Price,
  isWanted: boolean,
  renew: () => Promise<void>,
): boolean => {
  const [isAsking, setAsking] = useState(false);
  /** The quote that could not be renewed. */
  const [kept, setKept] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each quote that has expired
  useEffect(() => {
    if (!isWanted) return;
    const attempt = () => {
      const times = renewedOf(of)?.times ?? 0;
      if (document.visibilityState !== 'visible' || times >= MOST) return;
      document.removeEventListener('visibilitychange', attempt);
      noteRenewal(of, amount, times + 1);
      setAsking(true);
      void renew().finally(() => {
        setAsking(false);
        setKept(quoteId);
      });
    };
    document.addEventListener('visibilitychange', attempt);
    attempt();
    return () => document.removeEventListener('visibilitychange', attempt);
  }, [quoteId, isWanted]);
  return isAsking || (isWanted && kept !== quoteId && (renewedOf(of)?.times ?? 0) < MOST);
};
