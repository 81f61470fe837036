import bs58 from 'bs58';
import { PROGRAMS } from './programs.ts';

/** An account as the chain stores it. */
export type ChainAccount = { owner: string; data: Uint8Array; executable: boolean };

/**
 * A token account. `foreign`: the owner cannot be paid at this address, because another account is
 * there.
 */
export type TokenAccount =
  | { state: 'missing' }
  | { state: 'foreign' }
  | {
      state: 'ready';
      balanceMicro: bigint;
      delegate: string | null;
      allowanceMicro: bigint;
      frozen: boolean;
    };

const ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;

const key = (data: Buffer, at: number) => bs58.encode(data.subarray(at, at + 32));

/**
 * Reads the token account of an owner. The owner in the data counts, not the owner that the address
 * was derived from, because a token account can be transferred to another owner.
 */
export const readTokenAccount = (
  account: ChainAccount | null,
  { owner, mint }: { owner: string; mint: string },
): TokenAccount => {
  if (account === null || (account.owner === PROGRAMS.system && account.data.length === 0))
    return { state: 'missing' };
  const data = Buffer.from(account.data);
  if (account.owner !== PROGRAMS.token || data.length !== ACCOUNT_BYTES) return { state: 'foreign' };
  if (key(data, 0) !== mint || key(data, 32) !== owner || data[108] === 0) return { state: 'foreign' };
  const delegated = data.readUInt32LE(72) === 1;
  return {
    state: 'ready',
    balanceMicro: data.readBigUInt64LE(64),
    delegate: delegated ? key(data, 76) : null,
    allowanceMicro: delegated ? data.readBigUInt64LE(121) : 0n,
    frozen: data[108] === 2,
  };
};

/** The owner of any token account; null for a mint. */
export const ownerInTokenAccount = ({ data }: ChainAccount): string | null =>
  data.length === ACCOUNT_BYTES ? key(Buffer.from(data), 32) : null;

/**
 * The owner of a token account of the mint, whatever its address; null for any other account, and
 * for a frozen one, which can receive nothing.
 */
export const tokenAccountOwner = (account: ChainAccount, mint: string): string | null => {
  const data = Buffer.from(account.data);
  const live = account.owner === PROGRAMS.token && data.length === ACCOUNT_BYTES && data[108] === 1;
  return live && key(data, 0) === mint ? key(data, 32) : null;
};

/**
 * What an authority can spend of a token account of the mint: all of it as its owner, and its
 * allowance as its delegate. Nothing of any other account.
 */
export const spendableMicro = (account: ChainAccount | null, mint: string, authority: string): bigint => {
  const owner = account && tokenAccountOwner(account, mint);
  if (account === null || owner === null) return 0n;
  const read = readTokenAccount(account, { owner, mint });
  if (read.state !== 'ready') return 0n;
  const { balanceMicro, delegate, allowanceMicro } = read;
  if (owner === authority) return balanceMicro;
  if (delegate !== authority) return 0n;
  return allowanceMicro < balanceMicro ? allowanceMicro : balanceMicro;
};

/** Decimals of an initialised mint of the token program; null for any other account. */
export const readMintDecimals = (account: ChainAccount | null): number | null =>
  account?.owner === PROGRAMS.token && account.data.length === MINT_BYTES && account.data[45] === 1
    ? account.data[44]!
    : null;
