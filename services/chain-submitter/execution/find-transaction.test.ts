import { describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { Pool } from '../../../shared/db/pool.ts';
import { hashMessage } from '../../../shared/lib/chain/wire-transaction.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { RpcUnavailable } from '../chain/json-rpc.ts';
import type { Provider } from '../chain/provider.ts';
import { createRpcPool } from '../chain/rpc-pool.ts';
import { findTransaction, findTransactionEverywhere, isTransactionOf } from './find-transaction.ts';

/** Searches over providers that a test scripts. A transaction is its message here. */
const address = () => Keypair.generate().publicKey.toBase58();
const SINCE = Date.now();

type Script = {
  /** The signatures that it lists; null: it does not answer. */
  lists?: readonly string[] | null;
  has?: Readonly<Record<string, string>>;
  /** Whether the fee payers' signatures verify. */
  forges?: boolean;
};
const providerOf = ({ lists = [], has = {}, forges = false }: Script, index: number) =>
  ({
    number: index + 1,
    listSignatures: async (_address: string, before: string | undefined) => {
      if (lists === null) throw new RpcUnavailable('no answer');
      if (before !== undefined) return [];
      return lists.map((signature) => ({ signature, succeeded: signature !== 'failed', at: SINCE }));
    },
    included: async (signature: string): Promise<IncludedTransaction | null> => {
      const text = has[signature];
      if (text === undefined) return null;
      return {
        signature,
        message: Buffer.from(text),
        accounts: 0,
        accountAt: () => undefined,
        signatureAt: () => new Uint8Array(),
        feePayer: () => (forges ? null : 'payer'),
      };
    },
  }) as unknown as Provider;

/** @param builtHere signatures of own transactions */
const search = (scripts: readonly Script[], builtHere: readonly string[] = []) => {
  const pool = { anyFirst: async () => builtHere } as unknown as Pool;
  const rpc = createRpcPool(scripts.map(providerOf), async () => {});
  return { pool, rpc };
};
const wantedOf = (text: string) => ({
  messageHash: hashMessage(Buffer.from(text)),
  source: address(),
  since: SINCE,
});

describe('a transaction is found by its message', () => {
  test.each<[string, (signature: string, text: string) => Script[]]>([
    ['listed by one provider', (signature, text) => [{}, { lists: [signature], has: { [signature]: text } }]],
    [
      'listed by one provider, and read from another',
      (signature, text) => [{ lists: [signature] }, { has: { [signature]: text } }],
    ],
    [
      'behind a false copy',
      (signature, text) => [
        { lists: [signature], has: { [signature]: 'other' }, forges: true },
        { has: { [signature]: text } },
      ],
    ],
  ])('%s', async (_name, scriptsOf) => {
    const [signature, text] = [address(), address()];
    const deps = search(scriptsOf(signature, text));
    expect(await findTransaction(deps, wantedOf(text))).toBe(signature);
    expect(await findTransactionEverywhere(deps, wantedOf(text))).toBe(signature);
  });

  test('also when it has failed', async () => {
    const text = address();
    const deps = search([{ lists: ['failed'], has: { failed: text } }]);
    expect(await findTransactionEverywhere(deps, wantedOf(text))).toBe('failed');
  });

  test('other messages are not it, and a forged copy is none', async () => {
    const [signature, text] = [address(), address()];
    const deps = search([{ lists: [signature], has: { [signature]: text }, forges: true }]);
    expect(await isTransactionOf(deps, signature, wantedOf(text))).toBe(false);
    const other = search([{ lists: [signature], has: { [signature]: address() } }]);
    expect(await findTransaction(other, wantedOf(text))).toBeNull();
    expect(await findTransactionEverywhere(other, wantedOf(text))).toBeNull();
  });

  test('transactions that were built here are not read', async () => {
    const signature = address();
    const deps = search([{ lists: [signature] }], [signature]);
    expect(await findTransactionEverywhere(deps, wantedOf(address()))).toBeNull();
  });
});

describe('nothing is proven', () => {
  test('while a provider does not answer', async () => {
    const deps = search([{}, { lists: null }]);
    expect(await findTransaction(deps, wantedOf(address()))).toBeNull();
    await expect(findTransactionEverywhere(deps, wantedOf(address()))).rejects.toThrow(RpcUnavailable);
  });

  test.each<[string, (signature: string) => Script]>([
    ['no provider returns', () => ({})],
    ['the only provider forges', (signature) => ({ has: { [signature]: 'other' }, forges: true })],
  ])('while a transaction is listed that %s', async (_name, scriptOf) => {
    const signature = address();
    const deps = search([{ lists: [signature], ...scriptOf(signature) }]);
    expect(await findTransaction(deps, wantedOf(address()))).toBeNull();
    await expect(findTransactionEverywhere(deps, wantedOf(address()))).rejects.toThrow(RpcUnavailable);
  });
});
