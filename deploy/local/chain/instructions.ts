import bs58 from 'bs58';
import { u64 } from './formats/json.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  keyOf,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from './keys.ts';
import { uiAmount } from './token.ts';

type Parsed = { type: string; info: Record<string, unknown> } | string;

const named = (names: string[], accounts: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name, index) => (accounts[index] ? [[name, accounts[index]]] : [])));

type TokenInstruction = { type: string; accounts: string[]; amount?: 'amount' | 'tokenAmount' };

// The discriminators of spl-token's `TokenInstruction`, the field names of
// solana-transaction-status.
const TOKEN_INSTRUCTIONS: Record<number, TokenInstruction> = {
  1: { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] },
  3: { type: 'transfer', accounts: ['source', 'destination', 'authority'], amount: 'amount' },
  4: { type: 'approve', accounts: ['source', 'delegate', 'owner'], amount: 'amount' },
  5: { type: 'revoke', accounts: ['source', 'owner'] },
  7: { type: 'mintTo', accounts: ['mint', 'account', 'mintAuthority'], amount: 'amount' },
  8: { type: 'burn', accounts: ['account', 'mint', 'authority'], amount: 'amount' },
  9: { type: 'closeAccount', accounts: ['account', 'destination', 'owner'] },
  10: { type: 'freezeAccount', accounts: ['account', 'mint', 'freezeAuthority'] },
  11: { type: 'thawAccount', accounts: ['account', 'mint', 'freezeAuthority'] },
  12: {
    type: 'transferChecked',
    accounts: ['source', 'mint', 'destination', 'authority'],
    amount: 'tokenAmount',
  },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate', 'owner'], amount: 'tokenAmount' },
  14: { type: 'mintToChecked', accounts: ['mint', 'account', 'mintAuthority'], amount: 'tokenAmount' },
  15: { type: 'burnChecked', accounts: ['account', 'mint', 'authority'], amount: 'tokenAmount' },
  17: { type: 'syncNative', accounts: ['account'] },
};

const parseToken = (accounts: string[], data: Buffer): Parsed | undefined => {
  const kind = data[0] ?? 255;
  if (kind === 18 && data.length === 33) {
    const owner = keyOf(data.subarray(1)).name;
    return { type: 'initializeAccount3', info: { ...named(['account', 'mint'], accounts), owner } };
  }
  if ((kind === 0 || kind === 20) && data.length >= 35) {
    const info = {
      ...named(kind === 0 ? ['mint', 'rentSysvar'] : ['mint'], accounts),
      decimals: data[1],
      mintAuthority: keyOf(data.subarray(2, 34)).name,
      ...(data[34] === 1 && data.length >= 67 && { freezeAuthority: keyOf(data.subarray(35, 67)).name }),
    };
    return { type: kind === 0 ? 'initializeMint' : 'initializeMint2', info };
  }
  const known = TOKEN_INSTRUCTIONS[kind];
  if (!known) return undefined;
  const info: Record<string, unknown> = named(known.accounts, accounts);
  if (known.amount === 'amount' && data.length >= 9) info.amount = data.readBigUInt64LE(1).toString();
  if (known.amount === 'tokenAmount' && data.length >= 10) {
    info.tokenAmount = uiAmount(data.readBigUInt64LE(1), data[9]!);
  }
  return { type: known.type, info };
};

const parseSystem = (accounts: string[], data: Buffer): Parsed | undefined => {
  if (data.length === 12 && data.readUInt32LE(0) === 2) {
    const lamports = u64(data.readBigUInt64LE(4));
    return { type: 'transfer', info: { ...named(['source', 'destination'], accounts), lamports } };
  }
  if (data.length !== 52 || data.readUInt32LE(0) !== 0) return undefined;
  const info = {
    ...named(['source', 'newAccount'], accounts),
    lamports: u64(data.readBigUInt64LE(4)),
    space: u64(data.readBigUInt64LE(12)),
    owner: keyOf(data.subarray(20)).name,
  };
  return { type: 'createAccount', info };
};

const parseAssociatedToken = (accounts: string[], data: Buffer): Parsed | undefined => {
  if (data.length > 1 || (data[0] ?? 0) > 1) return undefined;
  const names = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];
  return { type: data[0] === 1 ? 'createIdempotent' : 'create', info: named(names, accounts) };
};

const PROGRAMS: Record<
  string,
  { program: string; parse: (accounts: string[], data: Buffer) => Parsed | undefined }
> = {
  [SYSTEM_PROGRAM.name]: { program: 'system', parse: parseSystem },
  [TOKEN_PROGRAM.name]: { program: 'spl-token', parse: parseToken },
  [TOKEN_2022_PROGRAM.name]: { program: 'spl-token', parse: parseToken },
  [ASSOCIATED_TOKEN_PROGRAM.name]: { program: 'spl-associated-token-account', parse: parseAssociatedToken },
  [MEMO_PROGRAM.name]: { program: 'spl-memo', parse: (_, data) => data.toString('utf8') },
  [MEMO_V1_PROGRAM.name]: { program: 'spl-memo', parse: (_, data) => data.toString('utf8') },
};

/**
 * An instruction as `jsonParsed` shows it. Instructions of the system, token, associated token and
 * memo programs are parsed. Others are shown with their accounts and their data in base58, as
 * Solana does for programs that it cannot parse.
 */
export const parseInstruction = (
  programId: string,
  accounts: string[],
  data: Uint8Array,
  stackHeight: number | null,
) => {
  const known = PROGRAMS[programId];
  const parsed = known?.parse(accounts, Buffer.from(data));
  if (known && parsed !== undefined) return { program: known.program, programId, parsed, stackHeight };
  return { programId, accounts, data: bs58.encode(data), stackHeight };
};
