import { expect, test } from '@jest/globals';
import { Keypair, TransactionMessage } from '@solana/web3.js';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { RpcUnavailable } from '../chain/json-rpc.ts';
import type { Provider } from '../chain/provider.ts';
import { createRpcPool } from '../chain/rpc-pool.ts';
import { proveExpiry, readChainAge } from './expiry-proof.ts';

const BLOCKHASH = Keypair.generate().publicKey.toBase58();
const wire = assemble(
  new TransactionMessage({
    payerKey: Keypair.generate().publicKey,
    recentBlockhash: BLOCKHASH,
    instructions: [],
  })
    .compileToV0Message()
    .serialize(),
  [null],
);

/** Providers at finalized heights, and whether each regards a blockhash as valid. */
const providersAt = (...all: { height: number; valid: boolean | 'no answer' }[]) => {
  const asked: string[] = [];
  const providers = all.map(({ height, valid }, index) => ({
    number: index + 1,
    blockHeight: async () => height,
    isBlockhashValid: async (blockhash: string) => {
      asked.push(`${index + 1} ${blockhash}`);
      if (valid === 'no answer') throw new RpcUnavailable('silent');
      return valid;
    },
  })) as unknown as Provider[];
  return { asked, rpc: createRpcPool(providers) };
};
const bytes = { wire, lastValidBlockHeight: 150 };
const noTrace = async () => null;

test('rule 11: bytes whose last block is not past at every provider cost no further call', async () => {
  const { rpc, asked } = providersAt({ height: 400, valid: false }, { height: 150, valid: false });
  const age = await readChainAge({ rpc });
  expect(await proveExpiry(age, bytes, () => Promise.reject(new Error('read')))).toBe('early');
  expect(asked).toEqual([]);
});

test('rule 11: a blockhash that any provider regards as valid is not expired, whatever its last block', async () => {
  const { rpc } = providersAt({ height: 400, valid: false }, { height: 400, valid: true });
  const age = await readChainAge({ rpc });
  expect(await proveExpiry(age, bytes, () => Promise.reject(new Error('read')))).toBe('valid');
  const { rpc: silent } = providersAt({ height: 400, valid: false }, { height: 400, valid: 'no answer' });
  await expect(proveExpiry(await readChainAge({ rpc: silent }), bytes, noTrace)).rejects.toThrow('silent');
});

test('rule 11: each provider is asked once about a blockhash, for all bytes that have it', async () => {
  const { rpc, asked } = providersAt({ height: 151, valid: false }, { height: 400, valid: false });
  const age = await readChainAge({ rpc });
  const proofs = await Promise.all([
    proveExpiry(age, bytes, noTrace),
    proveExpiry(age, bytes, async () => 'listed'),
    proveExpiry(age, bytes, noTrace, { indexBlocks: 32 }),
  ]);
  expect(proofs).toEqual(['expired', { known: 'listed' }, 'early']);
  expect(asked).toEqual([`1 ${BLOCKHASH}`, `2 ${BLOCKHASH}`]);
});

test('rule 11: adopted bytes are unknown, so their last block and the histories decide', async () => {
  const { rpc, asked } = providersAt({ height: 151, valid: true });
  const adopted = { ...bytes, wire: new Uint8Array() };
  expect(await proveExpiry(await readChainAge({ rpc }), adopted, noTrace)).toBe('expired');
  expect(asked).toEqual([]);
});
