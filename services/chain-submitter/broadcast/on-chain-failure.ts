import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { disassemble } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { ChainError } from '../ledger/model/chain-error.ts';
import {
  errorKind,
  type Failure,
  otherFailure,
  PLATFORM_FAULT,
  settleFailure,
} from '../ledger/model/failure.ts';
import type { Network } from '../ledger/model/network.ts';
import { costOf } from '../ledger/model/network-cost.ts';
import { transition } from '../ledger/transition.ts';
import { findCreationIndex } from '../transactions/message.ts';
import { recordDoubt, reportDispute } from './agreement.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';
import { compareViews, findAgreedError, type View } from './model/agreement.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  logger: Logger;
  network: Pick<Network, 'feePayers'>;
  tokenAccounts: TokenAccounts;
  inFlight: InFlightTransactions;
};

/** What a failure on chain means for the caller. */
const toFailure = async (
  deps: Deps,
  { order, intent, wire }: InFlightTransaction,
  error: ChainError,
): Promise<Failure> => {
  // The vendor's fee payer is not the platform's.
  if (order?.kind === 'outgoing') return otherFailure(order.kind, error);
  const creation = wire.length === 0 ? null : findCreationIndex(disassemble(wire).message);
  if (errorKind(error, creation) !== 'proven') return PLATFORM_FAULT;
  if (order?.kind !== 'settle') return otherFailure(intent.kind, error);
  return settleFailure(error, (await deps.tokenAccounts.get(order.payer)).account, order);
};

/**
 * Fails an intent whose transaction every provider has as failed and final, which proves it (rules
 * 14 and 15).
 */
export const failIfAgreed = async (
  deps: Deps,
  transaction: InFlightTransaction,
  views: readonly View[],
): Promise<void> => {
  const error = findAgreedError(views);
  if (error === null) {
    if (compareViews(views) === 'contradiction') reportDispute(deps, transaction, views);
    else recordDoubt(deps, transaction, views);
    return;
  }
  const failure = await toFailure(deps, transaction, error);
  // With the slot, settlement knows that the lamports of this failure are spent.
  const slot = views.find(({ status }) => status !== null)?.status?.slot ?? transaction.slot;
  const { intent, generation, signature } = transaction;
  if (transaction.phase === 'confirmed') await transition(deps, 'fork', [transaction]);
  const paid = costOf(transaction, null, deps.network);
  await transition(deps, 'fail', [{ intent, generation, signature, slot, failure, paid }]);
  deps.inFlight.end(intent.intent_id);
};
