import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { beginningOf, createKeyText, keyHash } from '../../../shared/lib/tokens/key-text.ts';
import { insertNotice } from '../mails/store.ts';
import { insertKey, type KeyOwner } from './store/keys.ts';

/** The details of a notice that name the owner of a key. */
export const ownerDetails = ({ kind, id }: KeyOwner, name: string) => ({
  owner_kind: kind,
  owner_id: id,
  name,
});

/** Writes a new current key and returns its text, of which only the beginning is stored. */
export const mintKey = async (
  tx: Db,
  { environment }: { environment: Environment },
  owner: KeyOwner,
  accountId: string,
): Promise<string> => {
  const text = createKeyText(`${owner.kind === 'service' ? 'vendor' : 'dk'}_${environment}_`);
  await insertKey(tx, owner, {
    key_id: newId('key'),
    account_id: accountId,
    key_hash: keyHash(text),
    beginning: beginningOf(text),
  });
  return text;
};

/** Mints the first key of a new service or delegate and mails the owner about it. */
export const mintFirstKey = async (
  tx: Db,
  deps: { environment: Environment },
  owner: KeyOwner,
  { account_id, name }: { account_id: string; name: string },
): Promise<string> => {
  const text = await mintKey(tx, deps, owner, account_id);
  await insertNotice(tx, { account_id, kind: 'key_created', details: ownerDetails(owner, name) });
  return text;
};
