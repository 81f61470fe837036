import { setTimeout as sleep } from 'node:timers/promises';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import type { OwnBudgets } from '../limits/own-budgets.ts';

/**
 * The caller has a payer waiting, so a provider that hangs counts as unavailable after this time.
 */
const TIMEOUT_MS = 1500;
/**
 * Unless it answered this short time ago: in a burst an answer waits for this process, which says
 * nothing about the chain. A payment that is accepted meanwhile is signed when the chain answers.
 */
const ANSWERED_WITHIN_MS = 5000;

/**
 * Whether a transaction can be built with an answer of any provider, and whether a budget is left
 * to sign it.
 */
export const observeChain =
  ({
    blockhashes,
    ownBudgets,
  }: {
    blockhashes: Blockhashes;
    ownBudgets: OwnBudgets;
  }): Handler<typeof chainSubmitter.internal.observeChain> =>
  async () => {
    const read = blockhashes.get().then(
      () => true,
      () => false,
    );
    const timeout = async () => {
      await sleep(TIMEOUT_MS, undefined, { ref: false });
      return blockhashes.answeredWithin(ANSWERED_WITHIN_MS);
    };
    const [readable, refillsInSeconds] = await Promise.all([
      Promise.race([read, timeout()]),
      ownBudgets.settleFees.refillsInSeconds(),
    ]);
    return { readable, budget_refills_in_seconds: refillsInSeconds };
  };
