import { useEffect, useRef, useState } from 'react';
import { useAction } from '../api/data.ts';
import { session } from '../api/store.ts';
import type { Deed, Owner, Wanted } from './read-transaction.ts';
import { useWalletWorker, type WalletWorker } from './worker-client.ts';

/**
 * The worker reads a prepared transaction before any wallet is asked to sign it (ADR 32).
 */

export type Prepared = { transaction: string; expires_at: string };

/**
 * The user and the chain need some seconds. A transaction that expires sooner is prepared again.
 */
const SOON_MS = 20_000;

/**
 * The mint of USDC in this environment, from the system's configuration. It is never taken from a
 * transaction or from an answer about one object.
 * @throws Error if none is configured; then nothing is signed
 */
const usdcMint = async (): Promise<string> => {
  const { client, environment } = session.get();
  const { environments } = await client.gateway.environments();
  const mint = environments[environment]?.usdc_mint;
  if (mint === undefined) throw new Error('The system has no USDC token configured. Nothing was signed.');
  return mint;
};

/** A prepared transaction with its content. */
export type Read = Prepared & { deed: Deed };

/** The conditions for signing a transaction. */
type Terms = { wanted: Wanted; owner: Owner };

/**
 * Prepares a transaction when the dialog opens, and again shortly before it expires.
 * @param prepare requests it from the service
 */
export const usePrepared = (address: string, wanted: Wanted, prepare: () => Promise<Prepared>) => {
  const worker = useWalletWorker();
  const prepared = useRef<Prepared | null>(null);
  const [read, setRead] = useState<Read | null>(null);

  /** A transaction that is still valid, its content, and the terms it was read with. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs once, when the worker is ready
  useEffect(() => {
    if (worker !== null) void check.run(undefined);
  }, [worker]);
  /**
   * A refused transaction is prepared again instead of sent again. If money moved, the answer says
   * so.
   */
  const discard = () => {
    prepared.current = null;
  };
  return {
    /** The content, or null before it was read. */
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
