import { invalid, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { replaceKey } from './replace-key.ts';
import { isCurrentKey, type KeyOwner, lockKeyOwner } from './store/keys.ts';

/** What replaces a key, publishes the change and mails it. */
export type KeyReplacer = {
  pool: Pool;
  clock: Clock;
  environment: Environment;
  relay: Outbox;
  sendMailsNow: () => void;
};

/** The callers that may rotate: the key itself, or a sign-in of its account. */
type Rotator = Extract<Principal, { kind: 'service_key' | 'delegate_key' | 'jwt' }>;

/**
 * Rotates the key of a service or delegate (docs/spec/interface.md, Key rules).
 * @throws ServiceError not_found; forbidden for a key in its grace period; validation_error for a
 * key that sends `revoke_previous`
 */
export const rotateKey = async (
  deps: KeyReplacer,
  owner: KeyOwner,
  {
    caller,
    revokePrevious,
    key,
  }: { caller: Rotator; revokePrevious: boolean | undefined; key: CallKey | undefined },
) => {
  if (caller.kind !== 'jwt' && revokePrevious !== undefined) {
    throw invalid('revoke_previous', 'needs a sign-in of the owner');
  }
  const { answer, outbox } = await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, caller.account_id);
    if (locked === null) throw notFound(owner.kind);
    if (caller.kind !== 'jwt') {
      const current = await isCurrentKey(tx, owner, caller.key_id);
      if (current === null) throw new ServiceError('unauthorized', 'this key is revoked');
      // A key may have been replaced because it leaked. It must not replace its successor.
      if (!current) throw new ServiceError('forbidden', 'a key in its grace period cannot rotate');
    }
    const replaced = await replaceKey(tx, deps, owner, locked, {
      revokePrevious: revokePrevious ?? false,
      kind: 'key_rotated',
    });
    await complete(tx, key, replaced.answer);
    return replaced;
  });
  deps.relay.dispatch(outbox);
  deps.sendMailsNow();
  return answer;
};
