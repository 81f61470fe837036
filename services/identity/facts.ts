import type { z } from 'zod';
import { identity } from '../../shared/contract/identity.ts';
import { subjects } from '../../shared/contract/service.ts';
import { insertOutbox, type OutboxRow } from '../../shared/db/outbox.ts';
import type { Db } from '../../shared/db/pool.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { newId } from '../../shared/lib/id.ts';
import type { Deps } from './deps.ts';
import type { DelegateRow } from './store/delegates.ts';

type Changes = Pick<typeof identity.events, 'delegateChanged' | 'keyChanged'>;
type Told<F extends keyof Changes> = Omit<z.infer<Changes[F]>, 'fact_id' | 'at'>;

/** Puts a change of an account into the outbox, with an id of its own; call it in the transaction that made it. */
export const insertFact = <F extends keyof Changes>(
  tx: Db,
  { clock }: Pick<Deps, 'clock'>,
  name: F,
  told: Told<F>,
): Promise<readonly OutboxRow[]> => {
  const fact_id = newId('evt');
  const payload = { ...told, fact_id, at: isoTime(clock()) };
  return insertOutbox(tx, [{ subject: subjects.event(identity.name, name), msgId: fact_id, payload }]);
};

/** The same of a delegate, as it is now. */
export const tellDelegate = (
  tx: Db,
  deps: Pick<Deps, 'clock'>,
  change: Told<'delegateChanged'>['change'],
  { account_id, delegate_id, name, wallet_id, expires_at }: DelegateRow,
): Promise<readonly OutboxRow[]> =>
  insertFact(tx, deps, 'delegateChanged', {
    account_id,
    change,
    delegate_id,
    name,
    wallet_id,
    expires_at: expires_at === null ? null : isoTime(expires_at),
  });
