import { expect, test } from '@jest/globals';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { hexOfAddress, tokenAccountOf } from './token-accounts.ts';

test('token accounts are those of the Token program, also of owners that are no keys', async () => {
  const mint = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
  const keys = Array.from({ length: 50 }, () => Keypair.generate().publicKey);
  const vault = getAssociatedTokenAddressSync(mint, keys[0]!);
  for (const owner of [...keys, vault, PublicKey.default]) {
    const account = getAssociatedTokenAddressSync(mint, owner, true);
    expect(await tokenAccountOf(owner.toBase58(), mint.toBase58())).toBe(hexOfAddress(account.toBase58()));
    expect(hexOfAddress(owner.toBase58())).toBe(owner.toBuffer().toString('hex'));
  }
});
