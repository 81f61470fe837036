import type { Deps } from '../deps.ts';
import { claimDueTransfers, type Kind } from './store.ts';
import { end, takeOver } from './transfer.ts';

const BATCH = 50;
const KINDS: readonly Kind[] = ['withdrawal', 'refund'];

/** Life is over: chain-submitter makes sure that nothing of it is signed any more, unless it was just then. */
const elapse = async (deps: Deps, kind: Kind, id: string): Promise<void> => {
  const progress = await deps.cancelPrepared({ transfer: kind, object_id: id });
  if (progress === null) await end(deps, kind, id, 'elapse');
  else await takeOver(deps, kind, progress);
};

/** No progress was heard of: facts can be lost with their queue, chain-submitter's record cannot. */
const ask = async (deps: Deps, kind: Kind, id: string): Promise<void> => {
  const progress = await deps.observePrepared({ transfer: kind, object_id: id });
  if (progress !== null) return takeOver(deps, kind, progress);
  deps.logger.error(
    { metric: 'unknown_transfer', kind, id },
    'submitted, and chain-submitter knows nothing of it',
  );
};

/**
 * Marks what has expired, and asks after what makes no progress (docs/design/settle.md, rule 16).
 */
export const driveTransfers = (deps: Deps) => async (): Promise<void> => {
  for (const kind of KINDS) {
    for (const { id, waiting } of await claimDueTransfers(deps.pool, kind, BATCH)) {
      await (waiting ? elapse : ask)(deps, kind, id);
    }
  }
};
