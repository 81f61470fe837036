import { setTimeout as sleep } from 'node:timers/promises';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { OwnBudgets } from '../limits/own-transactions.ts';
import type { ChainView } from './token-accounts.ts';

/** A provider that hangs is as good as away; the caller has a payer waiting. */
const PATIENCE_MS = 1500;

/** Whether any provider gives what a transaction is built with, and whether there is a budget to sign it. */
export const observeChain =
  ({
    chain,
    ownBudgets,
  }: {
    chain: ChainView;
    ownBudgets: OwnBudgets;
  }): Handler<typeof chainSubmitter.internal.observeChain> =>
  async () => {
    const read = chain.blockhash().then(
      () => true,
      () => false,
    );
    const [readable, refillsInSeconds] = await Promise.all([
      Promise.race([read, sleep(PATIENCE_MS, false, { ref: false })]),
      ownBudgets.settleFees.refillsInSeconds(),
    ]);
    return { readable, budget_refills_in_seconds: refillsInSeconds };
  };
