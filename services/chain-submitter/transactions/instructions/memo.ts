import { TransactionInstruction } from '@solana/web3.js';
import { keyOf, PROGRAMS } from '../../chain/addresses.ts';

/** A memo that no account has to sign. */
export const memo = (text: string): TransactionInstruction =>
  new TransactionInstruction({
    programId: keyOf(PROGRAMS.memo),
    keys: [],
    data: Buffer.from(text, 'utf8'),
  });
