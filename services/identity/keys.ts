import { accountFrozen, invalid, notFound, ServiceError } from '../../shared/contract/errors.ts';
import type { EventPayload } from '../../shared/contract/events.ts';
import type { CallKey } from '../../shared/contract/idempotency.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import type { Db } from '../../shared/db/pool.ts';
import { event, type Message } from '../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../shared/events/outbox.ts';
import { complete } from '../../shared/idempotency/store.ts';
import { isoTime, isoTimeOrNull } from '../../shared/lib/clock.ts';
import { newId } from '../../shared/lib/id.ts';
import { createKeyText, keyHash } from '../../shared/lib/key-text.ts';
import type { Deps } from './deps.ts';
import { revealToken, tokenHash } from './domain/tokens.ts';
import { newChange } from './events.ts';
import {
  endGrace,
  endKeys,
  insertKey,
  isCurrentKey,
  type KeyOwner,
  lockKeyOwner,
  retireKey,
} from './store/keys.ts';
import { insertNotice } from './store/mails.ts';
import { putRevealLink, useRevealLink } from './store/reveal_links.ts';
import { isAccountFrozen } from './store/standings.ts';

/**
 * What services and delegates share: their keys (docs/spec/interface.md, Key rules;
 * docs/spec/decisions.md, Services).
 */

/** Words of a notice: whose key it is. */
const about = ({ kind, id }: KeyOwner, name: string) => ({ owner_kind: kind, owner_id: id, name });

/** Writes a new current key; its text exists in the answer alone. */
export const mintKey = async (
  tx: Db,
  { environment }: Pick<Deps, 'environment'>,
  owner: KeyOwner,
  accountId: string,
): Promise<string> => {
  const text = createKeyText(`${owner.kind === 'service' ? 'vendor' : 'dk'}_${environment}_`);
  const key = { key_id: newId('key'), account_id: accountId, key_hash: keyHash(text) };
  await insertKey(tx, owner, key);
  return text;
};

/** The first key of a new service or delegate. */
export const mintFirstKey = async (
  tx: Db,
  deps: Pick<Deps, 'environment'>,
  owner: KeyOwner,
  { account_id, name }: { account_id: string; name: string },
): Promise<string> => {
  const text = await mintKey(tx, deps, owner, account_id);
  await insertNotice(tx, { account_id, kind: 'key_created', details: about(owner, name) });
  return text;
};

type KeyChange = {
  change: EventPayload<'identity.keyChanged'>['change'];
  /** Of the keys that end with it. */
  ended: readonly string[];
  previousEndsAt: number | null;
};

/**
 * What is published of a change of keys: every gateway forgets those that end, the account's own
 * listeners get the change.
 */
const keyEvents = (
  deps: Pick<Deps, 'clock'>,
  { kind, id }: KeyOwner,
  account_id: string,
  { change, ended, previousEndsAt }: KeyChange,
): Message[] => [
  ...(ended.length === 0 ? [] : [event('identity.keysRevoked', { key_hashes: [...ended] })]),
  event('identity.keyChanged', {
    ...newChange(deps),
    account_id,
    change,
    service_id: kind === 'service' ? id : null,
    delegate_id: kind === 'delegate' ? id : null,
    previous_key_expires_at: isoTimeOrNull(previousEndsAt),
  }),
];

/** Ends all keys of an owner that is over, and whatever link could make another. */
export const endAllKeys = async (
  tx: Db,
  deps: Pick<Deps, 'clock'>,
  owner: KeyOwner,
  { account_id, name }: { account_id: string; name: string },
): Promise<readonly OutboxRow[]> => {
  const ended = await endKeys(tx, owner);
  await insertNotice(tx, { account_id, kind: 'keys_ended', details: about(owner, name) });
  const change = { change: 'ended', ended, previousEndsAt: deps.clock() } as const;
  return insertOutbox(tx, keyEvents(deps, owner, account_id, change));
};

type Locked = NonNullable<Awaited<ReturnType<typeof lockKeyOwner>>>;

/**
 * Puts a new key in place of the current one, which lives through its grace period. Never more than two live: what was
 * in its grace period ends. The owner's row is locked, so of 64 at once each sees the one before.
 */
const replaceKey = async (
  tx: Db,
  deps: Deps,
  owner: KeyOwner,
  { account_id, name, key_grace_hours }: Locked,
  { revokePrevious, kind }: { revokePrevious: boolean; kind: 'key_rotated' | 'key_revealed' },
) => {
  const ended = [...(await endGrace(tx, owner))];
  const now = deps.clock();
  const atOnce = revokePrevious || key_grace_hours === 0;
  if (atOnce) ended.push(...(await endKeys(tx, owner)));
  const previousEndsAt = atOnce ? now : await retireKey(tx, owner, key_grace_hours);
  const api_key = await mintKey(tx, deps, owner, account_id);
  const until = previousEndsAt === null || atOnce ? 'now' : isoTime(previousEndsAt);
  await insertNotice(tx, { account_id, kind, details: { ...about(owner, name), until } });
  const answer = { api_key, previous_key_expires_at: isoTimeOrNull(previousEndsAt) };
  const change = kind === 'key_rotated' ? 'rotated' : 'revealed';
  const events = keyEvents(deps, owner, account_id, { change, ended, previousEndsAt });
  return { answer, outbox: await insertOutbox(tx, events) };
};

/** The caller that may rotate: the owner's key itself, or the account's sign-in. */
type Rotator = Extract<Principal, { kind: 'service_key' | 'delegate_key' | 'jwt' }>;

/**
 * Rotates by the current key or by a sign-in.
 * @throws ServiceError not_found; forbidden for a key in its grace period; validation_error for its `revoke_previous`
 */
export const rotate = async (
  deps: Deps,
  owner: KeyOwner,
  {
    caller,
    revokePrevious,
    key,
  }: { caller: Rotator; revokePrevious: boolean | undefined; key: CallKey | undefined },
) => {
  if (caller.kind !== 'jwt' && revokePrevious !== undefined) {
    const message = 'is for the owner’s sign-in';
    throw invalid('revoke_previous', message);
  }
  const { answer, outbox } = await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, caller.account_id);
    if (locked === null) throw notFound(owner.kind);
    if (caller.kind !== 'jwt') {
      const current = await isCurrentKey(tx, owner, caller.key_id);
      if (current === null) throw new ServiceError('unauthorized', 'this key has ended');
      // A key that was replaced because it leaked must not be able to replace its successor.
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
  deps.pokeMails();
  return answer;
};

/** Mails the link that reveals. @throws ServiceError not_found */
export const reveal = async (
  deps: Deps,
  owner: KeyOwner,
  accountId: string,
  revokePrevious: boolean | undefined,
): Promise<{ status: 'sent' }> => {
  const link_id = newId('link');
  const token = revealToken(deps.identitySecret, deps.environment, link_id);
  await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, accountId);
    if (locked === null) throw notFound(owner.kind);
    const link = { owner_id: owner.id, link_id, token_hash: tokenHash(token) };
    await putRevealLink(tx, { ...link, revoke_previous: revokePrevious ?? false });
    await insertNotice(tx, {
      account_id: accountId,
      kind: 'key_reveal',
      details: about(owner, locked.name),
      link_id,
    });
  });
  deps.pokeMails();
  return { status: 'sent' };
};

/** Uses the link: a replacement key, once. @throws ServiceError unauthorized; forbidden for a frozen account */
export const verifyReveal = async (deps: Deps, owner: KeyOwner, token: string) => {
  const { answer, outbox } = await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, null);
    const link = locked === null ? null : await useRevealLink(tx, owner.id, tokenHash(token));
    if (locked === null || link === null) {
      // One message for unknown, used, expired, replaced and another's: which it was is nobody's business.
      throw new ServiceError('unauthorized', 'the link is not valid any more; ask for a new one');
    }
    // The call has no credential, so nobody before has seen whose it is. Thrown here, the link stays unused.
    if (await isAccountFrozen(tx, locked.account_id)) throw accountFrozen();
    return replaceKey(tx, deps, owner, locked, {
      revokePrevious: link.revoke_previous,
      kind: 'key_revealed',
    });
  });
  deps.relay.dispatch(outbox);
  deps.pokeMails();
  return answer;
};
