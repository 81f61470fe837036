import { zstdCompressSync } from 'node:zlib';
import bs58 from 'bs58';
import type { Account, Bank } from '../bank.ts';
import { RpcError } from '../errors.ts';
import { keyOf, TOKEN_PROGRAM } from '../keys.ts';
import { decimalsOf } from '../meta.ts';
import { type TokenAccount, tokenAccount, tokenMint, uiAmount } from '../token.ts';
import { u64 } from './json.ts';

type AccountEncoding = 'base58' | 'base64' | 'base64+zstd' | 'jsonParsed';
export type AccountFormat = {
  /** Undefined is Solana's oldest format: a base58 string without an encoding name. */
  encoding?: AccountEncoding | undefined;
  dataSlice?: { offset: number; length: number } | undefined;
};

// Solana's MAX_BASE58_BYTES: above it base58 is too slow.
const MAX_BASE58_BYTES = 128;

const encodeBase58 = (data: Uint8Array): string => {
  if (data.length <= MAX_BASE58_BYTES) return bs58.encode(data);
  throw new RpcError(
    -32600,
    `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
  );
};

const encodeData = (data: Uint8Array, encoding: Exclude<AccountEncoding, 'jsonParsed'> | undefined) => {
  if (encoding === undefined) return encodeBase58(data);
  if (encoding === 'base58') return [encodeBase58(data), encoding];
  const bytes = encoding === 'base64+zstd' ? zstdCompressSync(data) : Buffer.from(data);
  return [bytes.toString('base64'), encoding];
};

const parsedTokenAccount = (token: TokenAccount, decimals: number) => ({
  type: 'account',
  info: {
    mint: token.mint.name,
    owner: token.owner.name,
    state: token.state,
    isNative: token.rentExemptReserve !== null,
    tokenAmount: uiAmount(token.amount, decimals),
    ...(token.delegate && {
      delegate: token.delegate.name,
      delegatedAmount: uiAmount(token.delegatedAmount, decimals),
    }),
    ...(token.rentExemptReserve !== null && { rentExemptReserve: uiAmount(token.rentExemptReserve, 9) }),
    ...(token.closeAuthority && { closeAuthority: token.closeAuthority.name }),
  },
});

/** Token accounts and mints as Solana's `jsonParsed` shows them; undefined for everything else. */
const parseAccount = (bank: Bank, account: Account, slot: number) => {
  const space = account.data().length;
  const program = keyOf(account.owner()) === TOKEN_PROGRAM ? 'spl-token' : 'spl-token-2022';
  const token = tokenAccount(account);
  if (token) return { program, parsed: parsedTokenAccount(token, decimalsOf(bank, token.mint, slot)), space };
  const mint = tokenMint(account);
  if (!mint) return undefined;
  const info = {
    mintAuthority: mint.mintAuthority?.name ?? null,
    supply: mint.supply.toString(),
    decimals: mint.decimals,
    isInitialized: mint.isInitialized,
    freezeAuthority: mint.freezeAuthority?.name ?? null,
  };
  return { program, parsed: { type: 'mint', info }, space };
};

/**
 * An account as getAccountInfo shows it.
 *
 * @param slot The slot at which the account is read, for the decimals of a token's mint.
 * @throws RpcError -32600 if its data is too long for base58
 */
export const encodeAccount = (
  bank: Bank,
  account: Account,
  slot: number,
  { encoding, dataSlice }: AccountFormat,
) => {
  const bytes = account.data();
  const data = dataSlice ? bytes.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : bytes;
  const encoded =
    encoding === 'jsonParsed'
      ? (parseAccount(bank, account, slot) ?? encodeData(data, 'base64'))
      : encodeData(data, encoding);
  return {
    data: encoded,
    executable: account.executable(),
    lamports: u64(account.lamports()),
    owner: keyOf(account.owner()).name,
    rentEpoch: u64(account.rentEpoch()),
    space: bytes.length,
  };
};
