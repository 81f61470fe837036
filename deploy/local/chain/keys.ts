import bs58 from 'bs58';

/** A 32-byte public key with its base58 name. Interned: the same bytes give the same object. */
export type Key = { readonly name: string; readonly bytes: Uint8Array };

const MAX_CACHED = 100_000;
// Encoding base58 costs more than executing a transfer, and the same keys recur.
const byBytes = new Map<string, Key>();

/** The key of 32 bytes. The bytes are copied, so a view does not keep a larger buffer in memory. */
export const keyOf = (bytes: Uint8Array): Key => {
  const id = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const known = byBytes.get(id);
  if (known) return known;
  const copy = new Uint8Array(bytes);
  const key = { name: bs58.encode(copy), bytes: copy };
  if (byBytes.size >= MAX_CACHED) byBytes.clear();
  byBytes.set(id, key);
  return key;
};

/** The key of a base58 name, or undefined if it is not base58 or not 32 bytes. */
export const keyNamed = (name: string): Key | undefined => {
  const bytes = bs58.decodeUnsafe(name);
  return bytes?.length === 32 ? keyOf(bytes) : undefined;
};

const known = (name: string): Key => {
  const key = keyNamed(name);
  if (!key) throw new Error(`not a key: ${name}`);
  return key;
};

export const SYSTEM_PROGRAM = known('11111111111111111111111111111111');
export const TOKEN_PROGRAM = known('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022_PROGRAM = known('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const ASSOCIATED_TOKEN_PROGRAM = known('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const MEMO_PROGRAM = known('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
export const MEMO_V1_PROGRAM = known('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo');
export const COMPUTE_BUDGET_PROGRAM = known('ComputeBudget111111111111111111111111111111');
export const LOOKUP_TABLE_PROGRAM = known('AddressLookupTab1e1111111111111111111111111');
