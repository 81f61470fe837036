import { createHash } from 'node:crypto';
import { tokenAccountOf } from '../../services/chain-submitter/chain/addresses.ts';
import { errorAnswer } from '../../services/gateway/http/errors.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { assemble, disassemble } from '../../shared/lib/chain/wire-transaction.ts';
import { type Refusal, refusalIn } from '../support/rules/refusals.ts';
import { actors, addressOf } from './actors.ts';
import { createCaller, Unanswered } from './caller.ts';
import { type Chain, readPayment } from './chain.ts';
import type { Harness, Process } from './harness.ts';
import { X402_NETWORK } from './outgoing-processes.ts';
import type { SettlementReplica } from './processes.ts';

/** Vendors that do not use Quittance. Each has a facilitator that pays fees and sends. */
const STRANGERS = [0, 1, 2].map((number) => {
  const owner = addressOf(`stranger ${number}`);
  const feePayer = addressOf(`facilitator ${number}`);
  return { owner, feePayer, tokenAccount: tokenAccountOf(owner, actors.mint) };
});

/** What a buyer wants to pay. */
export type Order = {
  attemptId: string;
  payer: number;
  delegateId: string | null;
  stranger: number;
  amountMicro: bigint;
  memo: string | null;
};
/** The bytes of an attempt that a buyer was answered. */
type Given = { accountId: string; order: Order; transaction: string };
/** An answer that called a payment confirmed. */
type Confirmed = { settlementId: string; attemptId: string };

const TRIES = 14;
const TRANSIENT = ['service_unavailable', 'internal_error', 'approval_required', 'limit_exceeded'];

/** When a vendor sends the bytes; null: never. A blockhash lives for a minute. */
const sendAfterMs = ({ random }: Harness): number | null => {
  const kind = random.next();
  if (kind < 0.45) return random.between(50, 2000);
  if (kind < 0.6) return random.between(2000, 40_000);
  return kind < 0.8 ? random.between(35_000, 80_000) : null;
};

/**
 * The buyers of payments to vendors of others, and those vendors. A buyer repeats, calls several
 * times at once, gives up, and reports what its vendor has said. A vendor sends the bytes when it
 * likes, or never, and names transactions that are none of this payment.
 * @param salt makes the signatures of the facilitators different in every run
 */
export const createOutgoing = (
  harness: Harness,
  { replicas, chain, salt }: { replicas: () => readonly SettlementReplica[]; chain: Chain; salt: string },
) => {
  const { random } = harness;
  const process: Process = { name: 'buyer', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { call, isIdle } = createCaller(harness, process, replicas);
  const given = new Map<string, Given>();
  const confirmed: Confirmed[] = [];
  const refusals: Refusal[] = [];
  let working = 0;
  for (const { owner, tokenAccount } of STRANGERS)
    chain.accounts.set(tokenAccount, { owner, amount: 0n, delegate: null, allowance: 0n });

  const callerOf = ({ payer, delegateId: delegate_id }: Order) => {
    const { account_id, wallet_id } = actors.payers[payer]!;
    return delegate_id === null
      ? { kind: 'jwt' as const, account_id, session_id: 'session', auth_time: 0 }
      : { kind: 'delegate_key' as const, account_id, wallet_id, delegate_id, key_id: 'key' };
  };
  const inputOf = ({ attemptId, stranger, amountMicro, memo }: Order) => ({
    payment_attempt_id: attemptId,
    resource: `https://stranger-${stranger}.example/${attemptId.split('.')[0]}`,
    requirement: {
      ...{ scheme: 'exact', network: X402_NETWORK, asset: actors.mint },
      payTo: STRANGERS[stranger]!.owner,
      amount: String(amountMicro),
      extra: { feePayer: STRANGERS[stranger]!.feePayer, ...(memo !== null && { memo }) },
    },
  });

  /** The transaction with the signature of the vendor's facilitator. */
  const cosigned = (transaction: string) => {
    const { signatures, message } = disassemble(Buffer.from(transaction, 'base64'));
    const own = createHash('sha512').update(salt).update(message).digest();
    return readPayment(assemble(message, [own, signatures[1]!]));
  };

  /** A vendor gets bytes for the first time. */
  const present = (order: Order, transaction: string): void => {
    const afterMs = sendAfterMs(harness);
    if (afterMs === null) return;
    const times = random.chance(0.2) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      working += 1;
      harness.schedule(afterMs + time * random.between(0, 20_000), () => {
        harness.trace('stranger', `sends the bytes of ${order.attemptId}`);
        chain.accept(cosigned(transaction));
        working -= 1;
      });
    }
  };

  const record = (order: Order, transaction: string): boolean => {
    const { attemptId, payer } = order;
    const { account_id: accountId } = actors.payers[payer]!;
    const key = `${accountId} ${attemptId}`;
    const earlier = given.get(key);
    if (earlier === undefined) given.set(key, { accountId, order, transaction });
    else if (earlier.transaction !== transaction)
      harness.fail('all answers to an attempt have the same bytes', attemptId);
    return earlier === undefined;
  };
  const keep = ({ attemptId, payer }: Order, askedAt: number, error: ServiceError): void => {
    const { account_id: accountId } = actors.payers[payer]!;
    const said = refusalIn(errorAnswer(error, settlement.operations.payExternal).body)!;
    refusals.push({
      ...{ accountId, attemptId, quoteId: attemptId, askedAt, at: harness.now() },
      ...said,
    });
  };

  /** A report: of the transaction, of another one, or of a failure. */
  const report = async (order: Order, settlementId: string, transaction: string): Promise<void> => {
    const others = [...chain.all()].filter(({ payment }) => payment.wire.length > 0);
    const own = cosigned(transaction);
    const { signature } = random.chance(0.5) || others.length === 0 ? own : random.pick(others).payment;
    if (signature === own.signature && chain.find(signature) === undefined) chain.named.set(signature, own);
    const response = random.chance(0.15) ? { success: false } : { success: true, transaction: signature };
    const payment_response = Buffer.from(JSON.stringify(response)).toString('base64');
    try {
      const { status } = await call((replica) =>
        replica.reportExternal({ settlement_id: settlementId, payment_response }, callerOf(order)),
      );
      harness.trace('buyer', `${order.attemptId}: ${status} after a report`);
      if (status === 'confirmed') confirmed.push({ settlementId, attemptId: order.attemptId });
    } catch (error) {
      harness.trace('buyer', `${order.attemptId} is not reported: ${(error as Error).message}`);
    }
  };

  /** One call. True: the answer is final. */
  const ask = async (order: Order): Promise<boolean> => {
    const askedAt = harness.now();
    const { attemptId } = order;
    try {
      const answer = await call((replica) => replica.payExternal(inputOf(order), callerOf(order)));
      const { settlement_id: settlementId, status, transaction } = answer;
      harness.trace('buyer', `${attemptId}: ${status} ${settlementId}`);
      if (status === 'confirmed') confirmed.push({ settlementId, attemptId });
      if (record(order, transaction)) present(order, transaction);
      if (random.chance(0.4)) {
        await harness.sleep(process, random.between(0, 8000));
        await report(order, settlementId, transaction);
      }
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) return false;
      harness.trace('buyer', `${attemptId}: ${error.code} (${error.message})`);
      if (error instanceof Unanswered) return false;
      keep(order, askedAt, error);
      // The vendor asks for more than the owner will have approved.
      if (error.code === 'approval_required' && random.chance(0.3)) {
        begin({ ...order, amountMicro: order.amountMicro + 1_000_000n }, random.between(500, 15_000));
        return true;
      }
      return !TRANSIENT.includes(error.code);
    }
  };

  const pursue = async (order: Order): Promise<void> => {
    const tries = random.chance(0.2) ? 1 : TRIES;
    for (let done = 0; done < tries && !(await ask(order)); done += 1)
      await harness.sleep(process, random.between(200, 6000));
    while (random.chance(0.4)) {
      await harness.sleep(process, random.between(0, 60_000));
      await ask(order);
    }
    working -= 1;
  };
  const begin = (order: Order, delayMs = 0): void => {
    working += 1;
    harness.inside(process, delayMs, () => void pursue(order));
    const copies = random.chance(0.4) ? random.int(1, 5) : 0;
    for (let copy = 0; copy < copies; copy += 1)
      harness.inside(process, delayMs + random.between(0, 60), () => void ask(order));
  };

  return {
    given,
    confirmed,
    refusals,
    begin,
    /** The buyer of an attempt with bytes calls once more. */
    repeat: ({ accountId, attemptId }: { accountId: string; attemptId: string }): void => {
      const earlier = given.get(`${accountId} ${attemptId}`);
      if (earlier !== undefined) begin(earlier.order, random.between(0, 20_000));
    },
    strangers: STRANGERS.length,
    isIdle: () => working === 0 && isIdle(),
  };
};
export type Outgoing = ReturnType<typeof createOutgoing>;
