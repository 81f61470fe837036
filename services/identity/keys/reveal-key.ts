import { accountFrozen, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { isAccountFrozen } from '../accounts/store.ts';
import { insertNotice } from '../mails/store.ts';
import { revealToken, tokenHash } from '../sessions/model/tokens.ts';
import { ownerDetails } from './mint-key.ts';
import { replaceKey } from './replace-key.ts';
import type { KeyReplacer } from './rotate-key.ts';
import { type KeyOwner, lockKeyOwner } from './store/keys.ts';
import { consumeRevealLink, upsertRevealLink } from './store/reveal_links.ts';

/** What mails a link that reveals a new key. */
export type KeyRevealer = {
  pool: Pool;
  environment: Environment;
  identitySecrets: readonly Buffer[];
  sendMailsNow: () => void;
};

/**
 * Mails a link that reveals a new key (docs/spec/decisions.md, Services).
 * @throws ServiceError not_found
 */
export const mailRevealLink = async (
  deps: KeyRevealer,
  owner: KeyOwner,
  accountId: string,
  revokePrevious: boolean | undefined,
): Promise<{ status: 'sent' }> => {
  const link_id = newId('link');
  const token = revealToken(deps.identitySecrets[0]!, deps.environment, link_id);
  await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, accountId);
    if (locked === null) throw notFound(owner.kind);
    const link = { owner_id: owner.id, link_id, token_hash: tokenHash(token) };
    await upsertRevealLink(tx, { ...link, revoke_previous: revokePrevious ?? false });
    await insertNotice(tx, {
      account_id: accountId,
      kind: 'key_reveal',
      details: ownerDetails(owner, locked.name),
      link_id,
    });
  });
  deps.sendMailsNow();
  return { status: 'sent' };
};

/**
 * Consumes the link and mints the key that it reveals.
 * @throws ServiceError unauthorized; forbidden for a frozen account
 */
export const revealKey = async (deps: KeyReplacer, owner: KeyOwner, token: string) => {
  const { answer, outbox } = await deps.pool.transaction(async (tx) => {
    const locked = await lockKeyOwner(tx, owner, null);
    const link = locked === null ? null : await consumeRevealLink(tx, owner.id, tokenHash(token));
    if (locked === null || link === null) {
      // One message for an unknown, used, expired, replaced or foreign link, so that a caller
      // cannot tell them apart.
      throw new ServiceError('unauthorized', 'the link is not valid any more; request a new one');
    }
    // The call has no credential, so no earlier check has seen the account. The error rolls the
    // consumption back, and the link stays unused.
    if (await isAccountFrozen(tx, locked.account_id)) throw accountFrozen();
    return replaceKey(tx, deps, owner, locked, {
      revokePrevious: link.revoke_previous,
      kind: 'key_revealed',
    });
  });
  deps.relay.dispatch(outbox);
  deps.sendMailsNow();
  return answer;
};
