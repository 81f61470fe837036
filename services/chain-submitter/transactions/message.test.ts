import { describe, expect, test } from '@jest/globals';
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import fc from 'fast-check';
import { changedBytes } from '../../../test/fuzz/mutations.ts';
import { compileByWeb3, decodeByWeb3 } from '../../../test/support/base/web3-message.ts';
import { compileMessage, compileMessageV0 } from './compile-message.ts';
import { computeBudget } from './instructions/compute-budget.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import {
  decodeAnyMessage,
  decodeMessage,
  findCreationIndex,
  type PlainMessage,
  readEnvelope,
} from './message.ts';
import { settle } from './settle.ts';

const addressOf = (number: number): string => {
  const bytes = Buffer.alloc(32, number);
  bytes.writeUInt32BE((number * 2_654_435_761) % 4_294_967_296, 0);
  return new PublicKey(bytes).toBase58();
};
const blockhash = addressOf(255);
const result = (read: () => PlainMessage): PlainMessage | 'refused' => {
  try {
    return read();
  } catch {
    return 'refused';
  }
};

/** Few addresses, so that an account often has several places and rights. */
const address = fc.integer({ min: 1, max: 12 }).map(addressOf);
const instruction = fc
  .record({
    program: address,
    keys: fc.array(fc.record({ address, isSigner: fc.boolean(), isWritable: fc.boolean() }), {
      maxLength: 9,
    }),
    data: fc.uint8Array({ maxLength: 40 }),
  })
  .map(
    ({ program, keys, data }) =>
      new TransactionInstruction({
        programId: new PublicKey(program),
        keys: keys.map(({ address: text, ...rights }) => ({ pubkey: new PublicKey(text), ...rights })),
        data: Buffer.from(data),
      }),
  );
const settleInstructions = fc
  .record({
    names: fc.uniqueArray(fc.integer({ min: 1, max: 250 }), { minLength: 8, maxLength: 8 }),
    grossMicro: fc.bigInt({ min: 2n, max: 2n ** 63n }),
    feeMicro: fc.bigInt({ min: 0n, max: 1n }),
    create: fc.boolean(),
    price: fc.option(fc.bigInt({ min: 0n, max: 2n ** 40n })),
    paysFees: fc.boolean(),
  })
  .map(({ names, grossMicro, feeMicro, create, price, paysFees }) => {
    const [mint, feePayer, feeAccount, source, authority, payout, payoutAccount, reference] = names.map(
      addressOf,
    ) as [string, string, string, string, string, string, string, string];
    const order = { source, authority, payout, reference, grossMicro, feeMicro: paysFees ? 0n : feeMicro };
    const network = { mint, feePayer, feeAccount, computeBudget: { units: 80_000 } };
    const instructions = settle(
      { ...order, payoutAccount: paysFees ? feeAccount : payoutAccount } as never,
      network as never,
      { create, price },
    );
    return { instructions, feePayer };
  });
const messages = fc.oneof(
  settleInstructions,
  fc.record({ instructions: fc.array(instruction, { maxLength: 5 }), feePayer: address }),
);

describe('compared with web3.js', () => {
  test.each(['legacy', 0] as const)('a message of random instructions, version %s', (version) => {
    const compile = version === 0 ? compileMessageV0 : compileMessage;
    fc.assert(
      fc.property(messages, ({ instructions, feePayer }) => {
        const bytes = compile(instructions, { feePayer, blockhash });
        expect(Buffer.from(bytes)).toEqual(
          Buffer.from(compileByWeb3(instructions, { feePayer, blockhash }, version)),
        );
        expect(decodeAnyMessage(bytes)).toEqual(decodeByWeb3(bytes));
      }),
      { numRuns: 300 },
    );
  });

  test.each(['legacy', 0] as const)('bytes that were changed, version %s', (version) => {
    const bytes = messages.map(({ instructions, feePayer }) =>
      Buffer.from(compileByWeb3(instructions, { feePayer, blockhash }, version)),
    );
    fc.assert(
      fc.property(changedBytes(bytes), (changed) => {
        expect(result(() => decodeAnyMessage(changed))).toEqual(result(() => decodeByWeb3(changed)));
      }),
      { numRuns: 2000 },
    );
  });
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ['a byte too many', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
  ['a byte missing', (bytes) => bytes.subarray(0, -1)],
  [
    'a length in two bytes that needs one',
    (bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(bytes[3]! | 0x80, 0), bytes.subarray(4)]),
  ],
  [
    'an account twice',
    (bytes) => Buffer.concat([bytes.subarray(0, 36), bytes.subarray(4, 36), bytes.subarray(68)]),
  ],
  [
    'an index out of range',
    (bytes) => Buffer.concat([bytes.subarray(0, -3), Buffer.of(99), bytes.subarray(-2)]),
  ],
  ['a version', (bytes) => Buffer.concat([Buffer.of(0x80), bytes, Buffer.of(0)])],
  ['nothing', () => Buffer.alloc(0)],
])('a legacy message is refused with %s', (_name, change) => {
  const instructions = [
    new TransactionInstruction({ programId: new PublicKey(addressOf(3)), keys: [], data: Buffer.alloc(0) }),
  ];
  const bytes = Buffer.from(compileMessage(instructions, { feePayer: addressOf(1), blockhash }));
  expect(decodeMessage(bytes).signers).toEqual([addressOf(1)]);
  expect(() => decodeMessage(change(bytes))).toThrow();
});

test('a message with lookup tables or of a later version is refused', () => {
  const bytes = Buffer.from(compileMessageV0([], { feePayer: addressOf(1), blockhash }));
  expect(decodeAnyMessage(bytes).accounts).toEqual([addressOf(1)]);
  const withTable = (...places: number[]) =>
    Buffer.concat([bytes.subarray(0, -1), Buffer.of(1), Buffer.alloc(32), Buffer.from(places)]);
  expect(() => decodeAnyMessage(withTable(1, 0, 0))).toThrow('lookup tables');
  expect(() => decodeAnyMessage(withTable(0, 0))).toThrow('not used');
  expect(() => decodeAnyMessage(Buffer.concat([Buffer.of(0x81), bytes.subarray(1)]))).toThrow('version');
});

test('the accounts of lookup tables are those that web3.js resolves', () => {
  const [one, two, payer] = [addressOf(40), addressOf(41), new PublicKey(addressOf(1))];
  const tableOf = (key: string, addresses: string[]) =>
    new AddressLookupTableAccount({
      key: new PublicKey(key),
      state: {
        ...{ deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 },
        addresses: addresses.map((address) => new PublicKey(address)),
      },
    });
  const addresses = [addressOf(2), addressOf(3), addressOf(4), addressOf(5)];
  const tables = [tableOf(one, addresses.slice(0, 2)), tableOf(two, addresses.slice(2))];
  const keys = addresses.map((address, index) => ({
    ...{ pubkey: new PublicKey(address), isSigner: false, isWritable: index % 2 === 1 },
  }));
  const instruction = new TransactionInstruction({
    ...{ programId: new PublicKey(addressOf(6)), keys, data: Buffer.of(1, 2) },
  });
  const compiled = new TransactionMessage({
    ...{ payerKey: payer, recentBlockhash: blockhash, instructions: [instruction] },
  }).compileToV0Message(tables);
  const accounts = compiled.getAccountKeys({ addressLookupTableAccounts: tables });
  const known = new Map(tables.map(({ key, state }) => [key.toBase58(), state.addresses.map(String)]));
  const plain = decodeAnyMessage(compiled.serialize(), known);
  expect(plain.accounts).toEqual(
    Array.from({ length: accounts.length }, (_, index) => accounts.get(index)!.toBase58()),
  );
  expect(plain.instructions[0]!.accounts.map(({ address, writable }) => [address, writable])).toEqual(
    keys.map(({ pubkey, isWritable }) => [pubkey.toBase58(), isWritable]),
  );
  expect(plain.writable).toEqual(plain.accounts.filter((_, index) => compiled.isAccountWritable(index)));
  expect(() => decodeAnyMessage(compiled.serialize(), new Map([[one, addresses.slice(0, 1)]]))).toThrow();
  expect(readEnvelope(compiled.serialize())).toEqual({
    ...{ signers: [payer.toBase58()], blockhash },
    tables: new Map([
      [one, 1],
      [two, 1],
    ]),
  });
});

test('a list that is too long for a message is not written', () => {
  const instructions = Array.from({ length: 128 }, () => computeBudget({ units: 1, microLamports: 1n })[0]!);
  expect(() => compileMessage(instructions, { feePayer: addressOf(1), blockhash })).toThrow(RangeError);
});

test('the position of the token account’s creation in a message: after the compute budget, first, or none', () => {
  const feePayer = addressOf(1);
  const [tokenAccount, owner, mint] = [2, 3, 4].map(addressOf) as [string, string, string];
  const create = createTokenAccount({ payer: feePayer, tokenAccount, owner, mint });
  const compile = (instructions: Parameters<typeof compileMessage>[0]) =>
    findCreationIndex(compileMessage(instructions, { feePayer, blockhash }));
  const budget = computeBudget({ units: 80_000, microLamports: 1n });
  expect([compile([...budget, create]), compile([create]), compile(budget)]).toEqual([2, 0, null]);
});
