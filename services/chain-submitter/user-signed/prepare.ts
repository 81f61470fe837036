import type { TransactionInstruction } from '@solana/web3.js';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import type { UserOrder } from '../ledger/model/order.ts';
import { type PreparationRow, replacePreparation } from '../ledger/store/preparations.ts';
import { compileMessage } from '../transactions/compile-message.ts';
import { checkPolicy, signersOf } from '../transactions/policy.ts';

type Deps = {
  pool: Pool;
  clock: Clock;
  network: Network;
  rpc: RpcPool;
  blockhashes: Blockhashes;
};

/**
 * Nominal slot time, which turns the remaining blocks into an expiry time. Only the block height is
 * binding.
 */
const SLOT_MS = 400;

/**
 * Builds, checks and stores a transaction that its owner signs first. Every signature slot is
 * empty, the fee payer's too (docs/spec/decisions.md, Wallets). An earlier preparation of the same
 * id, and for a delegation of the same wallet, can no longer be submitted.
 * @param draft `request` becomes the request of the intent, which is parsed to the same order
 * @throws ServiceError conflict when this preparation was submitted or cancelled
 */
export const prepare = async (
  deps: Deps,
  order: UserOrder,
  instructions: readonly TransactionInstruction[],
  draft: Pick<PreparationRow, 'preparation_id' | 'budget_account_id' | 'request' | 'creates'>,
): Promise<{ transaction: string; expires_at: string }> => {
  const { network, blockhashes, clock, pool } = deps;
  // The blockhash must be new, because the owner needs all of its lifetime to sign.
  blockhashes.invalidate();
  const [latest, height] = await readForCaller(
    Promise.all([blockhashes.get(), deps.rpc.first((provider) => provider.blockHeight('confirmed'))]),
  );
  const message = compileMessage(instructions, { feePayer: network.feePayer, blockhash: latest.blockhash });
  checkPolicy(message, order, network);
  const expiresAt = clock() + Math.max(0, latest.lastValidBlockHeight - height) * SLOT_MS;
  const isWritten = await replacePreparation(pool, {
    ...draft,
    kind: order.kind,
    account_id: order.accountId,
    owner: order.owner,
    message: Buffer.from(message),
    last_valid_block_height: BigInt(latest.lastValidBlockHeight),
    expires_at: expiresAt,
  });
  if (!isWritten) throw conflict('this was submitted or cancelled already');
  const empty = signersOf(order, network).map(() => null);
  return { transaction: assemble(message, empty).toString('base64'), expires_at: isoTime(expiresAt) };
};
