import { Keypair } from '@solana/web3.js';
import type { Consumer } from '../../../deploy/local/seed/actors.ts';
import { createApi } from '../../../deploy/local/seed/api.ts';
import { allowSpending, fund, linkWallet } from '../../../deploy/local/seed/wallet.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { type Person, signInPerson } from './console.ts';

export type Payer = Person & Pick<Consumer, 'wallet' | 'walletId'>;

/** A person with a sign-in for a page and a funded wallet with an allowance. */
export const signInPayer = async (stack: Stack, balance = 100_000_000n): Promise<Payer> => {
  const api = createApi(stack.gateway_url);
  const person = await signInPerson(stack);
  const wallet = Keypair.generate();
  const { wallet_id } = await linkWallet(api, person.token, person.accountId, wallet);
  await fund(api, person.token, wallet_id, balance);
  await allowSpending(api, person.token, wallet_id, wallet, balance);
  return { ...person, wallet, walletId: wallet_id };
};

/** Another sign-in of the same person, because each page needs one. */
export const again = (stack: Stack, { email }: Person): Promise<Person> => signInPerson(stack, { email });
