import { useEffect, useRef, useState } from 'react';
import { useAction } from '../lib/data.ts';
import { session } from '../session/store.ts';
import type { Deed, Owner, Wanted } from './read-transaction.ts';
import { useWalletWorker, type WalletWorker } from './worker-client.ts';

/**
 * A prepared transaction is read by the worker before anybody is asked to sign it, whichever wallet
 * signs (ADR 32).
 */

export type Prepared = { transaction: string; expires_at: string };

/** A person needs some seconds, and the chain too: what ends sooner is prepared anew. */
const SOON_MS = 20_000;

/**
 * The mint of USDC in the environment that is shown, from the configuration of the system. Neither a transaction nor an answer
 * about one object is asked for it.
 * @throws Error where the system is not configured with one: then nothing is signed
 */
const usdcMint = async (): Promise<string> => {
  const { client, environment } = session.get();
  const { environments } = await client.gateway.environments();
  const mint = environments[environment]?.usdc_mint;
  if (mint === undefined) throw new Error('The system does not say which token is USDC. Nothing was signed.');
  return mint;
};

/** A prepared transaction with what was read in it. */
export type Read = Prepared & { deed: Deed };

/** What has to be true of a transaction for it to be signed. */
export type Terms = { wanted: Wanted; owner: Owner };

/**
 * Has a transaction prepared when the dialog opens, and again when it is about to run out.
 * @param prepare asks the service for it
 */
export const usePrepared = (address: string, wanted: Wanted, prepare: () => Promise<Prepared>) => {
  const worker = useWalletWorker();
  const prepared = useRef<Prepared | null>(null);
  const [read, setRead] = useState<Read | null>(null);

  /** One that is good for a while, as the worker has read it, and what it was read by. */
  const ready = async (): Promise<{ worker: WalletWorker; terms: Terms; transaction: string }> => {
    if (worker === null) throw new Error('not started yet');
    const terms = { wanted, owner: { address, mint: await usdcMint() } };
    const now = prepared.current;
    if (now !== null && Date.parse(now.expires_at) - Date.now() > SOON_MS)
      return { worker, terms, transaction: now.transaction };
    const { transaction, expires_at } = await prepare();
    const deed = await worker.read({ transaction, ...terms });
    prepared.current = { transaction, expires_at };
    setRead({ deed, transaction, expires_at });
    return { worker, terms, transaction };
  };
  const check = useAction(() => ready());
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the worker is there
  useEffect(() => {
    if (worker !== null) void check.run(undefined);
  }, [worker]);
  /** What was refused is not sent again: it is prepared anew, which for money that moved says so. */
  const discard = () => {
    prepared.current = null;
  };
  return {
    /** What was read; null before. */
    read,
    error: check.error,
    isBusy: check.isBusy,
    afresh: () => {
      discard();
      void check.run(undefined);
    },
    ready,
    discard,
  };
};
