import { expect, test } from '@jest/globals';
import { Keypair, Message, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { privateKeyFromSeed, signBytes } from '../../../shared/lib/chain/ed25519.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { addUnused } from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import { PROGRAMS, tokenAccountOf } from '../chain/addresses.ts';
import type { Network } from '../ledger/model/network.ts';
import type { DelegationOrder } from '../ledger/model/order.ts';
import { compileMessage } from '../transactions/compile-message.ts';
import { delegation } from '../transactions/delegation.ts';
import { decodeMessage } from '../transactions/message.ts';
import { verifySigned } from './verify-signed.ts';

const someone = () => Keypair.generate().publicKey.toBase58();
const owner = Keypair.generate();
const [mint, feePayer, authority, stranger, blockhash] = Array.from({ length: 5 }, someone) as [
  string,
  string,
  string,
  string,
  string,
];
const network = { mint, feePayer, delegateAuthorities: [authority] } as unknown as Network;
const address = owner.publicKey.toBase58();
const order: DelegationOrder = {
  kind: 'delegation',
  accountId: 'acct',
  owner: address,
  tokenAccount: tokenAccountOf(address, mint),
  authority,
  allowanceMicro: 5_000_000n,
  since: 0,
};
const ours = delegation(order, network, { create: true });
const [create, approve] = ours as [TransactionInstruction, TransactionInstruction];
const compile = (instructions: TransactionInstruction[], on: object = {}) =>
  compileMessage(instructions, { feePayer, blockhash, ...on });
const prepared = compile(ours);

const sign = (message: Uint8Array, by: Keypair, forged = false) =>
  decodeMessage(message).signers.map((signer) => {
    if (signer === by.publicKey.toBase58())
      return signBytes(message, privateKeyFromSeed(by.secretKey.subarray(0, 32)));
    return forged ? new Uint8Array(64).fill(1) : null;
  });
const evaluate = (wire: Uint8Array) => {
  try {
    verifySigned(prepared, wire, address);
    return 'co-signed';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
};
const given = (instructions: TransactionInstruction[], on: object = {}) => {
  const message = compile(instructions, on);
  return evaluate(assemble(message, sign(message, owner)));
};
const account = (key: string, isWritable = false, isSigner = false) => ({
  pubkey: new PublicKey(key),
  isWritable,
  isSigner,
});
const guard = (...keys: ReturnType<typeof account>[]) =>
  new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.lighthouse),
    keys,
    data: Buffer.of(6, 1, 2),
  });
const approval = (change: Partial<DelegationOrder>) =>
  delegation({ ...order, ...change }, network, { create: false })[0]!;

test.each<[string, TransactionInstruction[], string]>([
  ['the prepared message', ours, 'co-signed'],
  ['a guard at the end', [...ours, guard(account(authority))], 'co-signed'],
  [
    'six guards before and after',
    [guard(account(address)), create, guard(), guard(), approve, guard(), guard(), guard()],
    'co-signed',
  ],
  ['seven guards', [...ours, ...Array.from({ length: 7 }, () => guard())], 'validation_error'],
  ['a guard with a new account', [...ours, guard(account(stranger))], 'validation_error'],
  ['a guard with a new writable account', [...ours, guard(account(stranger, true))], 'validation_error'],
  [
    'a guard that makes a read-only account of the message writable',
    [...ours, guard(account(authority, true))],
    'validation_error',
  ],
  ['a guard that uses the fee payer’s signature', [...ours, guard(account(feePayer))], 'validation_error'],
  ['a guard with a new signer', [...ours, guard(account(stranger, false, true))], 'validation_error'],
  [
    'an instruction of another program',
    [
      ...ours,
      new TransactionInstruction({ programId: new PublicKey(stranger), keys: [], data: Buffer.of() }),
    ],
    'validation_error',
  ],
  ['a larger allowance', [create, approval({ allowanceMicro: 5_000_001n })], 'validation_error'],
  ['another delegate', [create, approval({ authority: stranger })], 'validation_error'],
  ['a revocation', [create, approval({ allowanceMicro: null })], 'validation_error'],
  ['another order', [approve, create], 'validation_error'],
  ['less', [approve], 'validation_error'],
  ['an instruction repeated', [create, approve, approve], 'validation_error'],
  ['no instruction of the prepared message', [guard(account(address, false, true))], 'validation_error'],
])('the returned message is the prepared one, with guards at most: %s', (_name, instructions, expected) => {
  expect(given(instructions)).toBe(expected);
});

test('an account that no instruction names is refused', () => {
  const message = Message.from(compile([...ours, guard(account(authority))]));
  addUnused(message, stranger);
  const bytes = message.serialize();
  expect(evaluate(assemble(bytes, sign(bytes, owner)))).toBe('validation_error');
});

test('another blockhash or another fee payer is refused', () => {
  expect(given(ours, { blockhash: someone() })).toBe('validation_error');
  expect(given(ours, { feePayer: stranger })).toBe('validation_error');
});

test.each<[string, () => Uint8Array, string]>([
  ['no signature', () => assemble(prepared, [null, null]), 'validation_error'],
  [
    'another key’s signature',
    () => assemble(prepared, [null, signBytes(prepared, privateKeyFromSeed(new Uint8Array(32)))]),
    'validation_error',
  ],
  [
    'the signature of other bytes',
    () => assemble(prepared, [null, sign(compile([approve]), owner)[1]!]),
    'validation_error',
  ],
  [
    'a signature in the fee payer’s slot',
    () => assemble(prepared, sign(prepared, owner, true)),
    'validation_error',
  ],
  ['too few slots', () => assemble(prepared, [sign(prepared, owner)[1]!]), 'validation_error'],
  ['one slot too many', () => assemble(prepared, [...sign(prepared, owner), null]), 'validation_error'],
  ['no bytes', () => new Uint8Array(), 'validation_error'],
  ['one byte', () => Uint8Array.of(200), 'validation_error'],
  [
    'bytes after the end',
    () => Buffer.concat([assemble(prepared, sign(prepared, owner)), Buffer.of(0)]),
    'validation_error',
  ],
  [
    'a versioned message',
    () => {
      const message = Buffer.concat([Buffer.of(0x80), prepared, Buffer.of(0)]);
      return assemble(message, [
        null,
        signBytes(message, privateKeyFromSeed(owner.secretKey.subarray(0, 32))),
      ]);
    },
    'validation_error',
  ],
])('the bytes around the message: %s', (_name, wire, expected) => {
  expect(evaluate(wire())).toBe(expected);
});
