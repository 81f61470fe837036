import type { z } from 'zod';
import type { Standing } from '../../shared/contract/identity.ts';
import { type Operator, recordAction } from '../../shared/db/operator_actions.ts';
import type { Db, Pool } from '../../shared/db/pool.ts';
import { lockStanding, type StandingRow } from './store/standings.ts';
import { presentStanding } from './view.ts';

/** What of a standing an operator changes; the rest says whose it is. */
const told = ({ frozen_at, limit_factor }: z.infer<typeof Standing>) => ({ frozen_at, limit_factor });

/**
 * Changes how an account stands, with its record in the same commit. What is so already is left alone and not recorded.
 * @returns null when there is no such account
 */
export const changeStanding = (
  pool: Pool,
  accountId: string,
  operator: Operator,
  {
    action,
    isSo,
    change,
  }: {
    action: string;
    isSo: (row: StandingRow) => boolean;
    change: (tx: Db) => Promise<StandingRow>;
  },
): Promise<{ changed: boolean; standing: z.infer<typeof Standing> } | null> =>
  pool.transaction(async (tx) => {
    const row = await lockStanding(tx, accountId);
    if (row === null) return null;
    const before = presentStanding(row);
    if (isSo(row)) return { changed: false, standing: before };
    const standing = presentStanding(await change(tx));
    await recordAction(tx, operator, {
      action,
      target: accountId,
      before: told(before),
      after: told(standing),
    });
    return { changed: true, standing };
  });
