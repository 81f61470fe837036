import type { TransactionInstruction } from '@solana/web3.js';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Network } from '../chain/model/network.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import type { UserOrder } from '../intents/model/order.ts';
import { assemble, compileMessage } from '../transactions/message.ts';
import { checkPolicy, signersOf } from '../transactions/policy.ts';
import { type PreparationRow, replacePreparation } from './store/preparations.ts';

type Deps = {
  pool: Pool;
  clock: Clock;
  network: Network;
  rpc: Rpc;
  chain: ChainView;
};

/** Nominal slot time, to turn remaining blocks into a time for people. What counts is the block height. */
const SLOT_MS = 400;

/**
 * Builds, checks and keeps a transaction for its owner to sign first: every signature slot is
 * empty, the fee payer's too (docs/spec/decisions.md, Wallets). What was prepared under the same id
 * before, and for a delegation what was prepared for the same wallet, can no longer be submitted.
 * @param draft `request` is what the intent will be told: it gives the same order when it is read again
 * @throws ServiceError conflict when this preparation was submitted or cancelled
 */
export const prepare = async (
  deps: Deps,
  order: UserOrder,
  instructions: readonly TransactionInstruction[],
  draft: Pick<PreparationRow, 'preparation_id' | 'budget_account_id' | 'request' | 'creates'>,
): Promise<{ transaction: string; expires_at: string }> => {
  const { network, chain, clock, pool } = deps;
  // Never a kept blockhash: the person who signs needs all of its life.
  chain.forgetBlockhash();
  const [latest, height] = await readForCaller(
    Promise.all([chain.blockhash(), deps.rpc.first((provider) => provider.blockHeight('confirmed'))]),
  );
  const message = compileMessage(instructions, { feePayer: network.feePayer, blockhash: latest.blockhash });
  checkPolicy(message, order, network);
  const expiresAt = clock() + Math.max(0, latest.lastValidBlockHeight - height) * SLOT_MS;
  const written = await replacePreparation(pool, {
    ...draft,
    kind: order.kind,
    account_id: order.accountId,
    owner: order.owner,
    message: Buffer.from(message),
    last_valid_block_height: BigInt(latest.lastValidBlockHeight),
    expires_at: expiresAt,
  });
  if (!written) throw conflict('this was submitted or cancelled already');
  const empty = signersOf(order, network).map(() => null);
  return { transaction: assemble(message, empty).toString('base64'), expires_at: isoTime(expiresAt) };
};
