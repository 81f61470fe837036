import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Bus } from '../../../shared/bus/connect.ts';
import { serve } from '../../../shared/bus/serve.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import type { EventOf, Handlers } from '../../../shared/contract/service.ts';
import { acceptJobs } from '../../../shared/events/consume.ts';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { publishEvent } from '../servers/publish.ts';
import { createOutgoingStandIn } from './outgoing-stand-in.ts';

/**
 * The outcome of a job or a submitted transaction. `silent`: it is accepted, and no event follows.
 */
type Outcome = 'confirmed' | 'failed' | 'silent';
type OutcomeOf = 'settle' | 'incoming' | 'outgoing' | 'fund' | 'delegation' | 'tokenAccount' | 'transfer';
type Transfers = z.infer<typeof chainSubmitter.internal.observeTransfers.output>;
type Account = { exists: boolean; balance: bigint; delegate: string | null; allowance: bigint };
type Transfer = {
  transfer: 'withdrawal' | 'refund';
  owner: string;
  destination: string;
  amount: bigint;
  /** How often it was prepared. Only the latest bytes can be submitted. */
  round: number;
  state: 'open' | 'cancelled' | { txHash: string; progress: Progress };
};
type Preparation = { owner: string; allowance: bigint | null; authority: string; txHash: string | null };

const digest = (text: string) => createHash('sha512').update(text).digest();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const addressOf = (text: string) => encodeBase58(digest(text).subarray(0, 32));

export const AUTHORITY = addressOf('authority');

/** Signs a prepared transaction as the owner's wallet does. */
export const signedByOwner = (transaction: string): string =>
  base64(Buffer.from(transaction, 'base64').toString().replace('prepared:', 'signed:'));

const notCalled = async (): Promise<never> => {
  throw new ServiceError('internal_error', 'the stand-in does not answer this operation');
};
/** The operators' operations, which no test calls. */
export const notForOperators = {
  listSentEvents: notCalled,
  listOperatorActions: notCalled,
  verifyOperatorActions: notCalled,
  getBacklog: notCalled,
  listWaiting: notCalled,
  listUnsent: notCalled,
  findRecords: notCalled,
  listAccountRecords: notCalled,
  listQuarantined: notCalled,
  findQuarantined: notCalled,
  decideQuarantined: notCalled,
};

type Execute = (
  event: 'settleProgressed',
  objectId: string,
  outcome: Outcome,
  include: () => void,
) => Promise<void>;

/**
 * Payments that clients of x402 and MPP sign. Any transaction is accepted, and is its own message.
 */
const incomingHandlers = ({
  execute,
  outcomes,
}: {
  execute: Execute;
  outcomes: Record<OutcomeOf, Outcome>;
}): Pick<
  Handlers<typeof chainSubmitter>,
  'getFeePayers' | 'getBlockhash' | 'checkIncoming' | 'submitIncoming' | 'closeIncoming' | 'findLostIncoming'
> => {
  /** The settlement that a message pays, and its transaction; null: it was closed before. */
  const messages = new Map<string, { settlementId: string; txHash: string | null }>();
  const hashOf = (transaction: string) => createHash('sha256').update(transaction).digest('hex');
  const feePayer = addressOf('fee payer');
  const closed = { outcome: 'refused', reason: 'closed', message: 'the payment was ended' } as const;
  return {
    getFeePayers: async () => ({ fee_payers: [feePayer] }),
    getBlockhash: async () => ({ blockhash: encodeBase58(digest('blockhash')) }),
    checkIncoming: async ({ transaction }) => ({
      outcome: 'accepted',
      message_hash: hashOf(transaction),
      payer: addressOf(`payer of ${transaction}`),
      source_account: addressOf(`source of ${transaction}`),
      fee_payer: feePayer,
      lamports: 10_001,
    }),
    submitIncoming: async ({ transaction, settlement_id }) => {
      const hash = hashOf(transaction);
      const existing = messages.get(hash);
      if (existing === undefined) {
        const txHash = encodeBase58(digest(settlement_id));
        messages.set(hash, { settlementId: settlement_id, txHash });
        void execute('settleProgressed', settlement_id, outcomes.incoming, () => {});
        return { outcome: 'submitted', tx_hash: txHash };
      }
      const { settlementId, txHash } = existing;
      if (settlementId !== settlement_id || txHash === null) return closed;
      return { outcome: 'submitted', tx_hash: txHash };
    },
    closeIncoming: async ({ message_hash, settlement_id }) => {
      const txHash = messages.get(message_hash)?.txHash ?? null;
      if (txHash === null) messages.set(message_hash, { settlementId: settlement_id, txHash });
      const progress = { object_id: settlement_id, tx_hash: txHash, slot: null };
      return txHash === null
        ? {
            ...{ ...progress, status: 'failed', generation: 0 },
            failure: { code: 'payment_failed', message: 'the payment was ended before it was signed' },
          }
        : { ...progress, status: 'signed', generation: 1, failure: null };
    },
    findLostIncoming: async () => ({ paid: false }),
  };
};

/** A chain-submitter with a chain in memory, for the tests of services that call it. */
export const startChainStandIn = (bus: Bus) => {
  const accounts = new Map<string, Account>();
  const preparations = new Map<string, Preparation>();
  /** Owners of programs, mints and the like. */
  const refused = new Set<string>();
  const outcomes: Record<OutcomeOf, Outcome> = {
    settle: 'confirmed',
    incoming: 'confirmed',
    outgoing: 'silent',
    fund: 'confirmed',
    delegation: 'confirmed',
    tokenAccount: 'confirmed',
    transfer: 'confirmed',
  };
  const transfers = new Map<string, Transfer>();
  const jobs: string[] = [];
  /** What observeTransfers answers for a transaction. Without an entry it is not finalized. */
  const observedTransfers = new Map<string, Transfers>();
  let slot = 100;

  const account = (owner: string): Account => {
    const existing = accounts.get(owner) ?? { exists: false, balance: 0n, delegate: null, allowance: 0n };
    accounts.set(owner, existing);
    return existing;
  };

  const publishProgress = async (
    event: EventOf<typeof chainSubmitter>,
    objectId: string,
    status: Progress['status'],
    txHash: string,
  ) => {
    const isIncluded = status === 'confirmed' || status === 'finalized';
    const payload: Progress = {
      object_id: objectId,
      status,
      generation: 1,
      tx_hash: status === 'failed' ? null : txHash,
      slot: isIncluded ? slot : null,
      failure: status === 'failed' ? { code: 'payment_failed', message: 'it failed on chain' } : null,
    };
    const state = transfers.get(objectId)?.state;
    if (typeof state === 'object') state.progress = payload;
    outgoing.recordProgress(payload);
    await publishEvent(bus, `chain-submitter.${event}`, payload);
  };

  /** Publishes that a transaction is signed and then its outcome, as chain-submitter does. */
  const execute = async (
    event: EventOf<typeof chainSubmitter>,
    objectId: string,
    outcome: Outcome,
    include: () => void,
  ) => {
    if (outcome === 'silent') return;
    const txHash = encodeBase58(digest(objectId));
    await publishProgress(event, objectId, 'signed', txHash);
    if (outcome === 'confirmed') {
      slot += 1;
      include();
    }
    await publishProgress(event, objectId, outcome, txHash);
  };

  /** Whether the chain can be read, and until when it does not answer. */
  const state: { readable: boolean; hang: Promise<void> | null } = { readable: true, hang: null };
  /** How many owners each call of observeWallets was about. */
  const observationSizes: number[] = [];
  const observe = (owner: string) => {
    const { exists, balance, delegate, allowance } = account(owner);
    const amounts = { balance: formatMicro(balance), allowance: formatMicro(allowance) };
    return {
      token_account: addressOf(owner),
      exists,
      delegate,
      served: delegate === AUTHORITY,
      ...amounts,
      slot,
    };
  };

  const conflict = (message: string) => new ServiceError('conflict', message);
  const submitTransfer = (id: string, existing: Transfer, transaction: string): { tx_hash: string } => {
    if (existing.state === 'cancelled') throw conflict('it was cancelled');
    if (transaction !== base64(`signed:${id}:${existing.round}`)) {
      throw new ServiceError('validation_error', 'transaction: is not what was prepared');
    }
    if (existing.state === 'open') {
      if (account(existing.owner).balance < existing.amount)
        throw new ServiceError('insufficient_funds', 'the balance is too small');
      const txHash = encodeBase58(digest(id));
      const unconfirmed = { generation: 1, tx_hash: txHash, slot: null, failure: null };
      existing.state = { txHash, progress: { object_id: id, status: 'signed', ...unconfirmed } };
      const event = existing.transfer === 'refund' ? 'refundProgressed' : 'withdrawalProgressed';
      void execute(event, id, outcomes.transfer, () => {
        account(existing.owner).balance -= existing.amount;
        account(existing.destination).balance += existing.amount;
      });
    }
    return { tx_hash: existing.state.txHash };
  };
  const progressOf = (id: string): Progress | null => {
    const state = transfers.get(id)?.state;
    return typeof state === 'object' ? state.progress : null;
  };

  const outgoing = createOutgoingStandIn((settlementId) => {
    void execute('settleProgressed', settlementId, outcomes.outgoing, () => {});
  });

  const handlers: Handlers<typeof chainSubmitter> = {
    ...notForOperators,
    getCaps: notCalled,
    getBudgets: notCalled,
    listReplicas: notCalled,
    getSigning: notCalled,
    getCosts: notCalled,
    setSigningPaused: notCalled,
    findPayment: notCalled,
    findCapture: notCalled,
    listLostRecords: async () => ({ compared: true, lost: [] }),
    getCosigningLimits: notCalled,
    setCosigningFactor: notCalled,
    getAttemptReport: notCalled,
    buildIncoming: notCalled,
    createPayoutAccount: notCalled,
    prepareTransfer: async ({ transfer, object_id, owner, destination, amount }) => {
      if (refused.has(destination))
        throw new ServiceError('validation_error', 'destination_address: is a program');
      if (account(owner).balance < parseMicro(amount))
        throw new ServiceError('insufficient_funds', 'the balance is too small');
      const existing = transfers.get(object_id);
      if (existing !== undefined && existing.state !== 'open')
        throw conflict('submitted or cancelled already');
      const round = (existing?.round ?? 0) + 1;
      const base = { transfer, owner, destination, amount: parseMicro(amount) };
      transfers.set(object_id, { ...base, round, state: 'open' });
      return {
        transaction: base64(`prepared:${object_id}:${round}`),
        expires_at: new Date(Date.now() + 60_000).toISOString(),
        destination_token_account: addressOf(destination),
      };
    },
    cancelPrepared: async ({ object_id }) => {
      const existing = transfers.get(object_id);
      if (existing !== undefined && typeof existing.state !== 'object') existing.state = 'cancelled';
      return progressOf(object_id);
    },
    observePrepared: async ({ object_id }) => progressOf(object_id),
    observeWallet: async ({ owner }) => observe(owner),
    observeWallets: async ({ owners }) => {
      await state.hang;
      if (!state.readable)
        throw new ServiceError('service_unavailable', 'the chain cannot be read right now');
      observationSizes.push(owners.length);
      slot += 1;
      return { snapshots: owners.map(observe) };
    },
    observeTransfers: async ({ tx_hash }) =>
      observedTransfers.get(tx_hash) ?? { status: 'unknown', transfers: [] },
    observeChain: async () => ({ readable: true, budget_refills_in_seconds: null }),
    describeWallet: async ({ public_key: owner }) => {
      if (refused.has(owner)) throw new ServiceError('validation_error', 'public_key: is a program');
      return { token_account: addressOf(owner), authority: AUTHORITY };
    },
    checkPayoutAddress: async ({ payout_address: address }) => ({ token_account: addressOf(address) }),
    reserveTokenAccount: async () => ({ status: 'granted' as const, retry_after_seconds: null }),
    prepareDelegation: async ({ preparation_id, owner, allowance }) => {
      const parsed = allowance === null ? null : parseMicro(allowance);
      preparations.set(preparation_id, { owner, authority: AUTHORITY, allowance: parsed, txHash: null });
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      return { transaction: base64(`prepared:${preparation_id}`), expires_at };
    },
    ...incomingHandlers({ execute, outcomes }),
    ...outgoing.handlers,
    submitPrepared: async ({ preparation_id, transaction }) => {
      const existing = transfers.get(preparation_id);
      if (existing !== undefined) return submitTransfer(preparation_id, existing, transaction);
      const preparation = preparations.get(preparation_id);
      if (preparation === undefined) throw new ServiceError('not_found', 'no such preparation');
      if (transaction !== base64(`signed:${preparation_id}`)) {
        throw new ServiceError('validation_error', 'transaction: is not what was prepared');
      }
      if (preparation.txHash === null) {
        preparation.txHash = encodeBase58(digest(preparation_id));
        void execute('delegationProgressed', preparation_id, outcomes.delegation, () => {
          const { owner, allowance, authority } = preparation;
          Object.assign(account(owner), {
            exists: true,
            delegate: allowance === null ? null : authority,
            allowance: allowance ?? 0n,
          });
        });
      }
      return { tx_hash: preparation.txHash };
    },
  };
  const serving = serve(bus, chainSubmitter, handlers);

  const done = new Set<string>();
  const once = (id: string, act: () => void) => () => {
    if (!done.has(id)) act();
    done.add(id);
  };
  const subscription = acceptJobs(
    bus,
    chainSubmitter,
    {
      settle: ({ settlement_id }) => execute('settleProgressed', settlement_id, outcomes.settle, () => {}),
      fund: async ({ fund_id, owner, amount }) => {
        jobs.push(fund_id);
        const include = once(fund_id, () => {
          account(owner).exists = true;
          account(owner).balance += parseMicro(amount);
        });
        await execute('fundProgressed', fund_id, outcomes.fund, include);
      },
      createTokenAccount: async ({ wallet_id, owner }) => {
        jobs.push(wallet_id!);
        await execute('tokenAccountProgressed', wallet_id!, outcomes.tokenAccount, () => {
          account(owner).exists = true;
        });
      },
    },
    async ({ reason }) => {
      throw new Error(`a job could not be parsed: ${reason}`);
    },
  );

  return {
    account,
    refused,
    state,
    observationSizes,
    outcomes,
    transfers,
    /** Why the next outgoing payments are refused; null: they are signed. */
    outgoingRefusal: outgoing.refusal,
    observedTransfers,
    /** The object ids of the accepted jobs in their order, including repeats. */
    jobs,
    publishProgress,
    stop: async () => {
      await serving.stop();
      await subscription.stop();
    },
  };
};
export type ChainStandIn = ReturnType<typeof startChainStandIn>;
