import { isDeepStrictEqual } from 'node:util';
import { payeesOfQuote } from '../../services/settlement/record/model/payees.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { storedClaims } from '../../shared/lib/tokens/compact-token.ts';
import type { ApprovalRecord } from './approvals-tables.ts';
import { createCaller } from './caller.ts';
import type { Attempt, Clients } from './clients.ts';
import { EPOCH } from './database.ts';
import { type Harness, type Process, require } from './harness.ts';
import type { SettlementReplica } from './processes.ts';
import type { Random } from './random.ts';
import { type Acceptance, acceptancesOf, findAcceptance } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';

const TRIES = 8;

type Decision = 'approve' | 'deny';
/** An answer that the owner got. `status`: what it says about the approval. */
type Answer = { approvalId: string; decision: Decision; status: string; at: number };

/**
 * The owners of delegates that need an approval. They decide at any moment, change their mind, call
 * twice, and record every answer. A thief among the programs of the account uses an id that has an
 * approval for another payment or by another delegate.
 */
export const createOwners = (
  harness: Harness,
  {
    replicas,
    clients,
    settlement,
  }: { replicas: () => readonly SettlementReplica[]; clients: () => Clients; settlement: SettlementTables },
) => {
  const { random } = harness;
  const process: Process = { name: 'owner', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { call, isIdle } = createCaller(harness, process, replicas);
  const answers: Answer[] = [];
  let deciding = 0;

  /** One call. True: it was answered. */
  const ask = async ({ approval_id, account_id }: ApprovalRecord, decision: Decision): Promise<boolean> => {
    const approval = { approval_id, account_id };
    const keep = (status: string) => {
      answers.push({ approvalId: approval_id, decision, status, at: harness.now() });
      harness.trace('owner', `${decision} ${approval_id}: ${status}`);
    };
    try {
      const { status } = await call((replica) =>
        decision === 'approve'
          ? replica.recordApproval({ ...approval, passkey_id: 'passkey' })
          : replica.denyApproval(approval, { kind: 'jwt', account_id, session_id: 's', auth_time: 0 }),
      );
      keep(status);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'conflict') return false;
      keep('conflict');
      return true;
    }
  };
  const askUntilAnswered = async (row: ApprovalRecord, decision: Decision): Promise<void> => {
    for (let tries = 0; tries < TRIES && !(await ask(row, decision)); tries += 1)
      await harness.sleep(process, random.between(50, 3000));
  };

  /** A program of the account that uses an attempt id which was approved for another payment. */
  const steal = async ({ payment_attempt_id: attemptId, account_id }: ApprovalRecord): Promise<void> => {
    const { attempts, ask: settle } = clients();
    const own = attempts.find((one) => one.attemptId === attemptId);
    if (own === undefined) return;
    const others = attempts.filter((one) => one.quote.payer === own.quote.payer && one.quote !== own.quote);
    // The amount would give away any other.
    const equal = others.filter(({ quote }) => quote.grossMicro === own.quote.grossMicro);
    const delegates = [...settlement.delegates.values()].filter(
      (one) => one.account_id === account_id && one.delegate_id !== own.delegateId,
    );
    const otherQuote = others.length > 0 && random.chance(0.6);
    const attempt: Attempt = {
      attemptId,
      quote: otherQuote ? random.pick(equal.length > 0 ? equal : others).quote : own.quote,
      delegateId: otherQuote || delegates.length === 0 ? own.delegateId : random.pick(delegates).delegate_id,
      causedByItself: [],
      paid: null,
      refused: null,
    };
    attempts.push(attempt);
    await settle(attempt);
  };

  /** The owner changes its mind at the moment in which the delegate pays. */
  const race = async (row: ApprovalRecord): Promise<void> => {
    const own = clients().attempts.find((one) => one.attemptId === row.payment_attempt_id);
    if (own !== undefined) void clients().ask(own);
    await harness.sleep(process, random.between(0, 40));
    await askUntilAnswered(row, 'deny');
  };

  const pursue = async (row: ApprovalRecord): Promise<void> => {
    await harness.sleep(process, random.between(0, random.chance(0.7) ? 3000 : 30_000));
    const first: Decision = random.chance(0.75) ? 'approve' : 'deny';
    if (random.chance(0.2)) void askUntilAnswered(row, random.pick(['approve', 'deny'] as const));
    await askUntilAnswered(row, first);
    if (first === 'approve' && random.chance(0.5)) await steal(row);
    if (first === 'approve' && random.chance(0.3)) await race(row);
    if (random.chance(0.5)) {
      await harness.sleep(process, random.between(0, random.chance(0.7) ? 2000 : 20_000));
      await askUntilAnswered(row, random.pick(['approve', 'deny', 'deny'] as const));
    }
  };

  settlement.approvals.onInserted((row) => {
    deciding += 1;
    harness.inside(process, 0, () => {
      void pursue(row).finally(() => {
        deciding -= 1;
      });
    });
  });

  return { answers, isIdle: () => deciding === 0 && isIdle() };
};
type Owners = ReturnType<typeof createOwners>;

/** Above which amount a new delegate needs an approval; null: never. */
export const createApprovalAmounts = (random: Random, isOn: boolean) => (): bigint | null =>
  isOn && random.chance(0.8) ? BigInt(Math.max(1, random.int(0, 3) * 1_000_000)) : null;

/** Whether an approval is about exactly this payment. */
const isOfPayment = (approval: ApprovalRecord, { row, micro, quote_id, quote_token }: Acceptance): boolean =>
  approval.account_id === row.account_id &&
  approval.delegate_id === row.delegate_id &&
  approval.amount === micro &&
  isDeepStrictEqual(approval.payees, row.payees ?? payeesOfQuote(storedClaims(quote_token))) &&
  approval.rail === row.rail &&
  approval.quote_id === quote_id &&
  approval.resource === row.resource;

/**
 * Each payment of a delegate above its amount has the approval of exactly this payment, which the
 * owner had given before and has not taken back, and no other payment has it.
 */
export const checkApprovals = ({ settlements, delegates, approvals: { approvals } }: SettlementTables) => {
  if (![...delegates.values()].some(({ approval_above }) => approval_above !== null)) return;
  const used = new Set<string>();
  const rows = [...approvals.values()];
  for (const acceptance of [...settlements.values()].flatMap(acceptancesOf)) {
    const { id, payment_attempt_id, micro: amount, row } = acceptance;
    const above = delegates.get(row.delegate_id ?? '')?.approval_above ?? null;
    if (above === null || amount <= above) continue;
    const isOf = (one: ApprovalRecord) => isOfPayment(one, acceptance);
    const own = rows.find((one) => one.payment_attempt_id === payment_attempt_id && isOf(one));
    const found = own ?? rows.find(isOf);
    require(found !== undefined, 'a payment above the amount has its approval', () => id);
    const { approval_id, approved, decided_at, expires_at } = found!;
    require(!used.has(approval_id), 'one payment for an approval', () => `${approval_id}: ${id}`);
    used.add(approval_id);
    require(approved !== false, 'no payment is denied', () => `${approval_id}: ${id}`);
    const isInTime =
      decided_at !== null && decided_at <= acceptance.created_at && acceptance.created_at < expires_at;
    require(approved === true && isInTime, 'approved before the payment and in time', () => id);
    require(own !== undefined, 'an approval is of its own attempt', () => `${approval_id}: ${id}`);
  }
};

/** What owners were answered is true for ever. */
export const checkOwners = (
  { answers }: Owners,
  { settlements, approvals: { approvals } }: SettlementTables,
): void => {
  for (const { approvalId, decision, status, at } of answers) {
    const row = approvals.get(approvalId)!;
    const payment = findAcceptance(settlements, row);
    const detail = () => `${approvalId} is ${row.approved}, ${decision} was answered ${status}`;
    if (status === 'denied') {
      require(row.approved === false, 'an answered decision stands', detail);
      const isPaid = payment !== undefined && isOfPayment(row, payment);
      require(!isPaid, 'what was denied is not paid', detail);
    } else if (status === 'approved') require(row.approvedAt !== null, 'an answered decision stands', detail);
    else {
      const isPaid = payment !== undefined && payment.created_at - EPOCH <= at;
      const isOver = decision === 'approve' && (row.approved === false || row.expires_at - EPOCH <= at);
      require(isPaid || isOver, 'a refused decision had its reason', detail);
    }
  }
};
