import { expect, test } from '@jest/globals';
import bs58 from 'bs58';
import { PROGRAMS } from './programs.ts';
import { FinalizedTransaction, transfersInto } from './transfers.ts';

const address = (byte: number) => bs58.encode(new Uint8Array(32).fill(byte));
const [TREASURY, WALLET, OTHER, MINT, OWNER, PROGRAM, OTHER_OWNER] = [1, 2, 3, 4, 5, 6, 7].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const KEYS = [TREASURY, WALLET, OTHER, MINT, PROGRAMS.token, PROGRAM];
const at = (key: string) => KEYS.indexOf(key);

const amountBytes = (amount: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(amount);
  return bytes;
};
const checked = (source: string, destination: string, amount: bigint, program: string = PROGRAMS.token) => ({
  programIdIndex: at(program),
  accounts: [source, MINT, destination, TREASURY].map(at),
  data: bs58.encode(Buffer.concat([Buffer.of(12), amountBytes(amount), Buffer.of(6)])),
});
const plain = (source: string, destination: string, amount: bigint) => ({
  programIdIndex: at(PROGRAMS.token),
  accounts: [source, destination, TREASURY].map(at),
  data: bs58.encode(Buffer.concat([Buffer.of(3), amountBytes(amount)])),
});
const noise = { programIdIndex: at(PROGRAM), accounts: [0, 1], data: '' };

type Options = { inner?: object[]; before?: bigint; owner?: string; mint?: string; loaded?: object };
const changes = (instructions: object[], arrived: bigint, options: Options = {}) => {
  const { inner = [], before = 0n, owner = OWNER, mint = MINT, loaded = null } = options;
  const balance = (amount: bigint) => ({
    accountIndex: at(WALLET),
    mint,
    owner,
    uiTokenAmount: { amount: `${amount}` },
  });
  return FinalizedTransaction.parse({
    slot: 7,
    transaction: { message: { accountKeys: loaded === null ? KEYS : KEYS.slice(0, 3), instructions } },
    meta: {
      err: null,
      innerInstructions: inner,
      loadedAddresses: loaded,
      preTokenBalances: before === 0n ? [] : [balance(before)],
      postTokenBalances: [balance(before + arrived)],
    },
  });
};
const five = checked(TREASURY, WALLET, 5n);

test.each([
  ['checked', changes([five], 5n), ['0:5']],
  ['alone, after another instruction', changes([noise, plain(TREASURY, WALLET, 5n)], 5n), ['1:5']],
  ['into an account with a balance', changes([five], 5n, { before: 100n }), ['0:5']],
  [
    'made by a program',
    changes([noise], 5n, { inner: [{ index: 0, instructions: [noise, five] }] }),
    ['0.1:5'],
  ],
  ['two in one transaction', changes([five, checked(TREASURY, WALLET, 7n)], 12n), ['0:5', '1:7']],
  ['two equal ones count as two', changes([five, five], 10n), ['0:5', '1:5']],
  ['with another to a different wallet', changes([checked(TREASURY, OTHER, 9n), five], 5n), ['1:5']],
  [
    'accounts from a lookup table',
    changes([five], 5n, { loaded: { writable: KEYS.slice(3, 4), readonly: KEYS.slice(4) } }),
    ['0:5'],
  ],
  ['to another wallet', changes([checked(TREASURY, OTHER, 5n)], 0n), []],
  ['from the wallet', changes([checked(WALLET, OTHER, 5n)], -5n, { before: 5n }), []],
  ['to itself', changes([checked(WALLET, WALLET, 5n)], 0n, { before: 5n }), []],
  ['in and out again', changes([five, checked(WALLET, OTHER, 5n)], 0n), []],
  ['of another program', changes([checked(TREASURY, WALLET, 5n, PROGRAM)], 0n), []],
  ['without a change of the balance', changes([five], 0n), []],
  ['of amount zero', changes([checked(TREASURY, WALLET, 0n)], 0n), []],
  ['of another mint', changes([five], 5n, { mint: OTHER }), []],
  ['an account that was transferred to another owner', changes([five], 5n, { owner: OTHER_OWNER }), []],
  ['accounts out of range', changes([{ ...five, accounts: [0, 3, 99, 0] }], 5n), []],
])('transfers that are found in a transaction: %s', (_name, transaction, expected) => {
  const found = transfersInto(transaction, { tokenAccount: WALLET, owner: OWNER, mint: MINT });
  expect(found.map(({ instruction, amountMicro }) => `${instruction}:${amountMicro}`)).toEqual(expected);
  expect(found.every(({ source }) => source === TREASURY)).toBe(true);
});
