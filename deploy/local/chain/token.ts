import type { Account } from './bank.ts';
import { type Key, keyOf, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './keys.ts';

// Layouts: `state.rs` of the SPL Token program. Token-2022 appends extensions after a type byte at
// offset 165.
const ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
const TYPE_MINT = 1;
const TYPE_ACCOUNT = 2;

export type TokenAccount = {
  program: Key;
  mint: Key;
  owner: Key;
  amount: bigint;
  delegate: Key | null;
  state: 'uninitialized' | 'initialized' | 'frozen';
  /** For wrapped SOL, the lamports that are not tokens; null for other mints. */
  rentExemptReserve: bigint | null;
  delegatedAmount: bigint;
  closeAuthority: Key | null;
};
type Mint = {
  program: Key;
  mintAuthority: Key | null;
  supply: bigint;
  decimals: number;
  isInitialized: boolean;
  freezeAuthority: Key | null;
};

const tokenData = (account: Account): { program: Key; data: Buffer } | undefined => {
  const program = keyOf(account.owner());
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return undefined;
  const data = account.data();
  return { program, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
};

const key = (data: Buffer, at: number): Key => keyOf(data.subarray(at, at + 32));
const optionalKey = (data: Buffer, at: number): Key | null =>
  data.readUInt32LE(at) === 1 ? key(data, at + 4) : null;

/** The account as a token account, or undefined if it is not one. */
export const tokenAccount = (account: Account | null): TokenAccount | undefined => {
  const found = account && tokenData(account);
  if (!found) return undefined;
  const { program, data } = found;
  const extended = data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === TYPE_ACCOUNT;
  if (data.length !== ACCOUNT_BYTES && !extended) return undefined;
  const state = (['uninitialized', 'initialized', 'frozen'] as const)[data[108]!];
  if (!state || state === 'uninitialized') return undefined;
  return {
    program,
    mint: key(data, 0),
    owner: key(data, 32),
    amount: data.readBigUInt64LE(64),
    delegate: optionalKey(data, 72),
    state,
    rentExemptReserve: data.readUInt32LE(109) === 1 ? data.readBigUInt64LE(113) : null,
    delegatedAmount: data.readBigUInt64LE(121),
    closeAuthority: optionalKey(data, 129),
  };
};

/** The account as a token mint, or undefined if it is not one. */
export const tokenMint = (account: Account | null): Mint | undefined => {
  const found = account && tokenData(account);
  if (!found) return undefined;
  const { program, data } = found;
  const extended = data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === TYPE_MINT;
  if (data.length !== MINT_BYTES && !extended) return undefined;
  return {
    program,
    mintAuthority: optionalKey(data, 0),
    supply: data.readBigUInt64LE(36),
    decimals: data[44]!,
    isInitialized: data[45] === 1,
    freezeAuthority: optionalKey(data, 46),
  };
};

/** The data of a mint without a supply and without a freeze authority. */
export const newMintData = (authority: Key, decimals: number): Uint8Array<ArrayBuffer> => {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeUInt32LE(1, 0);
  data.set(authority.bytes, 4);
  data[44] = decimals;
  data[45] = 1;
  return new Uint8Array(data);
};

/** An amount of base units as Solana's `UiTokenAmount`. */
export const uiAmount = (amount: bigint, decimals: number) => {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = fraction ? `${whole}.${fraction}` : whole;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
};
export type UiAmount = ReturnType<typeof uiAmount>;
