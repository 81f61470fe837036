import { setTimeout as sleep } from 'node:timers/promises';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';

/** A provider that hangs is as good as away; the caller has a payer waiting. */
const PATIENCE_MS = 1500;

/** Whether any provider gives what a transaction is built with. It is what the next signing would ask first. */
export const observeChain =
  ({ chain }: Pick<Deps, 'chain'>): Handler<typeof chainSubmitter.internal.observeChain> =>
  async () => {
    const read = chain.blockhash().then(
      () => true,
      () => false,
    );
    return { readable: await Promise.race([read, sleep(PATIENCE_MS, false, { ref: false })]) };
  };
