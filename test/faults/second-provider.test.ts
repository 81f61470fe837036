import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { openRpcPool } from '../../services/chain-submitter/chain/rpc-pool.ts';
import { newPayer, signedTransfer, startChain, type TestChain } from '../support/servers/local-chain.ts';
import { INVENTED_SLOT } from './lies.ts';
import { type SecondProvider, startSecondProvider } from './second-provider.ts';

let chain: TestChain;
let second: SecondProvider;
beforeAll(async () => {
  chain = await startChain();
  await chain.call('chain_clock', { paused: true });
  second = await startSecondProvider();
});
afterAll(async () => {
  second.stop();
  await chain.stop();
  chain.remove();
});

test('one provider answers while the other one lags or has lost its history', async () => {
  const [first, other] = openRpcPool([chain.url, second.urlOf(chain.url)]).providers;
  const transaction = await signedTransfer(
    chain,
    await newPayer(chain),
    Keypair.generate().publicKey,
    1_000_000,
  );
  const signature = bs58.encode(transaction.signature!);
  await first!.send(transaction.serialize());
  await chain.call('chain_advance', 5);
  const known = async () => (await other!.statuses([signature], { history: true })).statuses[0] !== null;
  const height = await first!.blockHeight('confirmed');
  expect([await known(), await other!.blockHeight('confirmed')]).toEqual([true, height]);

  second.behave({ lagSlots: 10 });
  expect([await known(), await other!.blockHeight('confirmed')]).toEqual([false, height - 10]);
  const { slot } = await first!.statuses([signature], { history: false });
  await expect(other!.accounts([Keypair.generate().publicKey.toBase58()], slot)).rejects.toThrow('slot');

  second.behave({ lies: 'slot' });
  const accounts = await other!.accounts([Keypair.generate().publicKey.toBase58()], slot);
  expect(accounts.context.slot).toBe(INVENTED_SLOT);
  second.behave({ lies: 'error' });
  const statusOf = async (name: string) => (await other!.statuses([name], { history: true })).statuses[0];
  expect((await statusOf(signature))?.err).not.toBeNull();
  second.behave({ lies: 'confirmation' });
  const never = bs58.encode(Buffer.alloc(64, 7));
  expect(await statusOf(never)).toMatchObject({ err: null, confirmationStatus: 'finalized' });
  second.behave({ lies: 'signature' });
  expect([(await statusOf(signature)) === null, (await statusOf(never)) === null]).toEqual([false, false]);

  second.behave({ lies: 'blockhash' });
  const honest = (await first!.latestBlockhash()).value;
  const lied = (await other!.latestBlockhash()).value;
  expect(lied.blockhash).toBe(honest.blockhash);
  expect(honest.lastValidBlockHeight - lied.lastValidBlockHeight).toBeGreaterThanOrEqual(10);
  expect(await other!.blockHeight('confirmed')).toBeLessThanOrEqual(height - 10);
  expect(await other!.blockHeight('finalized')).toBe(await first!.blockHeight('finalized'));

  second.behave('forgets');
  expect([await known(), await other!.blockHeight('confirmed')]).toEqual([false, height]);
  expect((await first!.statuses([signature], { history: true })).statuses[0]).not.toBeNull();
});
