import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { computeBudget } from './instructions/compute-budget.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { compileMessage, findCreationIndex } from './message.ts';

const someone = () => Keypair.generate().publicKey.toBase58();
const blockhash = someone();

test('the position of the token account’s creation in a message: after the compute budget, first, or none', () => {
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
