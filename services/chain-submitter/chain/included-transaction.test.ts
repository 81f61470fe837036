import { expect, test } from '@jest/globals';
import {
  Keypair,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { parseIncluded } from './included-transaction.ts';

const payer = Keypair.generate();
const to = Keypair.generate().publicKey;
const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1 });
const blockhash = Keypair.generate().publicKey.toBase58();

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
])('a %s transaction shows its signature and accounts, and proves its fee payer', (_name, make) => {
  const wire = make();
  const read = parseIncluded(wire);
  expect(read.signature).toBe(bs58.encode(wire.subarray(1, 65)));
  expect([read.accountAt(0), read.accountAt(1), read.accountAt(9)]).toEqual([
    payer.publicKey.toBase58(),
    to.toBase58(),
    undefined,
  ]);
  expect(read.feePayer()).toBe(payer.publicKey.toBase58());
  // With another key or with one changed byte the signature proves nothing.
  const keyAt = wire.indexOf(payer.publicKey.toBytes()[0]!, 65);
  for (const at of [keyAt, wire.length - 1]) {
    const forged = Uint8Array.from(wire);
    forged[at]! ^= 1;
    expect(parseIncluded(forged).feePayer()).toBeNull();
  }
});

test.each([
  ['no bytes', new Uint8Array()],
  ['no signature', legacy().with(0, 0)],
  ['half of the bytes', legacy().subarray(0, 90)],
])('bytes that are not a transaction are refused: %s', (_name, bytes) => {
  expect(() => parseIncluded(bytes)).toThrow('transaction');
});
