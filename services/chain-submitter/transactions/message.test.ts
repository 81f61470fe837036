import { expect, test } from '@jest/globals';
import {
  Keypair,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { computeBudget } from './instructions/compute-budget.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { compileMessage, findCreationIndex, readIncluded } from './message.ts';

const someone = () => Keypair.generate().publicKey.toBase58();
const payer = Keypair.generate();
const to = Keypair.generate().publicKey;
const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1 });
const blockhash = someone();

const legacy = () => {
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
    transfer,
  );
  transaction.sign(payer);
  return new Uint8Array(transaction.serialize());
};
const versioned = () => {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [transfer],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  return transaction.serialize();
};

test.each([
  ['legacy', legacy],
  ['versioned', versioned],
])('a %s transaction names its signature, its accounts, and proves who signed it', (_name, make) => {
  const wire = make();
  const read = readIncluded(wire);
  expect(read.signature).toBe(bs58.encode(wire.subarray(1, 65)));
  expect([read.accountAt(0), read.accountAt(1), read.accountAt(9)]).toEqual([
    payer.publicKey.toBase58(),
    to.toBase58(),
    undefined,
  ]);
  expect(read.feePayer()).toBe(payer.publicKey.toBase58());
  // Another's key put over it, or one byte changed: no proof.
  const keyAt = wire.indexOf(payer.publicKey.toBytes()[0]!, 65);
  for (const at of [keyAt, wire.length - 1]) {
    const forged = Uint8Array.from(wire);
    forged[at]! ^= 1;
    expect(readIncluded(forged).feePayer()).toBeNull();
  }
});

test.each([
  ['nothing', new Uint8Array()],
  ['no signature', legacy().with(0, 0)],
  ['half of it', legacy().subarray(0, 90)],
])('what is no transaction is refused: %s', (_name, bytes) => {
  expect(() => readIncluded(bytes)).toThrow('not a wire transaction');
});

test('where a message creates a token account: behind the compute budget, first without it, or nowhere', () => {
  const feePayer = someone();
  const create = createTokenAccount({
    payer: feePayer,
    tokenAccount: someone(),
    owner: someone(),
    mint: someone(),
  });
  const compile = (instructions: Parameters<typeof compileMessage>[0]) =>
    findCreationIndex(compileMessage(instructions, { feePayer, blockhash }));
  const budget = computeBudget({ units: 80_000, microLamports: 1n });
  expect([compile([...budget, create]), compile([create]), compile(budget)]).toEqual([2, 0, null]);
});
