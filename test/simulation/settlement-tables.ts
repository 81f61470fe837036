import { type Event, next } from '../../services/settlement/record/model/status.ts';
import type { ConfirmationRow } from '../../services/settlement/record/store/record-progress.ts';
import type { RedeemRequest } from '../../services/settlement/record/store/redeem.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import { byteaText, tokenHash } from '../../shared/lib/tokens/packed-token.ts';
import { acceptModels } from './accept-model.ts';
import { createApprovalsTables } from './approvals-tables.ts';
import { authorizationModels } from './authorization-tables.ts';
import { createConsumeTables } from './consume-tables.ts';
import { type Call, createOutbox, currentCall, EPOCH, type Model, model, tokenOf } from './database.ts';
import type { Harness } from './harness.ts';
import { createOutgoingSettlement } from './outgoing-settlement.ts';
import { type Reservation, reservationModels } from './reservation-tables.ts';
import {
  acceptancesOf,
  type Delegate,
  extensionTokens,
  findAcceptance,
  isPayingQuote,
  isUnpaid,
  limitsOf,
  NO_CAPS,
  type Payer,
  type Settlement,
} from './settlement-rows.ts';
import { createUseTables } from './use-tables.ts';
import { watchModels } from './watching.ts';

/** The request of a redeem, as its statement binds it as JSON. */
type Redeeming = Omit<RedeemRequest, 'settlement_token'> & { token_hash: string };

const STALLED_MS = { pending: 15_000, confirmed: 45_000 };

export type SettlementTables = ReturnType<typeof createSettlementTables>;

/**
 * The tables of settlement with the guards of the stores of services/settlement. States change by
 * the real transition table. A statement reads other rows from its snapshot, so the keys
 * decide races.
 */
export const createSettlementTables = (harness: Harness) => {
  const settlements = new Map<string, Settlement>();
  const payers = new Map<string, Payer>();
  const delegates = new Map<string, Delegate>();
  const reservations = new Map<string, Reservation>();
  /** What vendors accrued for payments of x402, and what they paid of it. */
  const feeAccounts = new Map<string, { accrued: bigint; paid: bigint }>();
  const outbox = createOutbox(harness);
  const approvals = createApprovalsTables(harness, { settlements, delegates });
  const { now } = harness;
  const rows = () => [...settlements.values()];
  const appNow = () => EPOCH + now();

  /** Since when a fork has removed a payment, and for how long one did before. */
  const forks = new Map<string, { at: number | null; forMs: number }>();
  const forkOf = ({ settlement_id }: Settlement) => forks.get(settlement_id) ?? { at: null, forMs: 0 };
  const windowElapsed = (row: Settlement): boolean =>
    row.redeem_expires_at !== null &&
    row.chain_status !== 'pending' &&
    row.redeem_expires_at + forkOf(row).forMs <= appNow();
  const isUsable = (row: Settlement): boolean => (row.due_at ?? 0) > appNow();
  const show = (row: Settlement | undefined): unknown[] =>
    row === undefined ? [] : [{ ...row, elapsed: windowElapsed(row), usable: isUsable(row) }];
  /** Applies an event to a row by the transition table, if it has a transition for it. */
  const move = (row: Settlement, event: Event): boolean => {
    const to = next({ status: row.status, chain: row.chain_status }, event);
    if (to === null) return false;
    harness.trace(
      'settlements',
      `${row.settlement_id}: ${row.status}/${row.chain_status} → ${to.status}/${to.chain}`,
    );
    row.status = to.status;
    row.chain_status = to.chain;
    // Redeem, consume and expiry are not progress of the payment.
    if (!['redeem', 'elapse', 'consume', 'void'].includes(event)) row.progressed_at = now();
    return true;
  };

  /**
   * A held amount is spent once its payment is confirmed, and released once the payment has failed
   * for good.
   */
  const moveDelegate = (row: Settlement, to: 'spent' | 'none') => {
    const { quote_amount: gross, holding } = row;
    const delegate = delegates.get(limitsOf(row));
    if (delegate === undefined) return;
    if (holding) delegate.held -= gross;
    if (holding && to === 'spent') delegate.spent += gross;
    if (!holding && to === 'none') delegate.spent -= gross;
  };

  const release = (row: Settlement, includedSlot: bigint | null) => {
    if (harness.off !== 'counters of a delegate') moveDelegate(row, includedSlot === null ? 'none' : 'spent');
    if (!row.holding) return;
    const payer = payers.get(row.wallet_id)!;
    const { quote_amount: gross } = row;
    payer.held -= gross;
    row.holding = false;
    if (includedSlot === null) return;
    if (payer.included_slot < includedSlot) payer.included_slot = includedSlot;
    if (payer.as_of_slot >= includedSlot) return;
    payer.balance = payer.balance > gross ? payer.balance - gross : 0n;
    payer.allowance = payer.allowance > gross ? payer.allowance - gross : 0n;
  };

  /**
   * One of the events that a statement was given. The events of a statement are applied one after
   * another.
   */
  const included = (confirmation: ConfirmationRow, messages: { subject: string }[]): unknown[] => {
    const { settlement_id: settlementId, finalized, generation, tx_hash } = confirmation;
    const row = settlements.get(settlementId);
    if (row === undefined || row.generation > generation || row.status === 'failed') return [];
    const was = row.status;
    if (!move(row, finalized ? 'finalized' : 'confirmed')) return [];
    const { at, forMs } = forkOf(row);
    forks.set(settlementId, { at: null, forMs: forMs + (at === null ? 0 : now() - at) });
    release(row, BigInt(confirmation.slot));
    row.generation = generation;
    if (!isUnpaid(was) && row.tx_hash !== null && row.tx_hash !== tx_hash)
      row.superseded_tx_hashes = [...row.superseded_tx_hashes, row.tx_hash];
    row.tx_hash = tx_hash;
    if (was === 'capturing') row.redeemed_at = confirmation.issued_at;
    row.issued_at ??= confirmation.issued_at;
    row.redeem_expires_at ??= confirmation.redeem_expires_at;
    row.settlement_token ??= confirmation.token && tokenOf(confirmation.token);
    const published = messages.filter(({ subject }) =>
      subject.endsWith('.finalized') ? finalized : isUnpaid(was),
    );
    return [{ ...row, was, outbox: outbox.insert(JSON.stringify(published)) }];
  };
  const allIncluded = ({ given, messages }: { given: string; messages: string }): unknown[] => {
    const rows = JSON.parse(messages) as { subject: string; payload: { settlement_id: string } }[];
    return (JSON.parse(given) as ConfirmationRow[]).flatMap((one) =>
      included(
        one,
        rows.filter(({ payload }) => payload.settlement_id === one.settlement_id),
      ),
    );
  };

  /** What a failed payment has accrued goes back to its vendor's account. */
  const returnFee = (row: Settlement) => {
    if (row.accrued_fee === 0n) return;
    feeAccounts.get(row.vendor_account_id!)!.accrued -= row.accrued_fee;
    row.accrued_fee = 0n;
  };

  type Failing = {
    isIncluded: boolean;
    id: string;
    code: string;
    message: string;
    generation: number;
    failed: string;
    reversed: string;
  };
  const failed = ({ id, generation, isIncluded, ...values }: Failing): unknown[] => {
    const row = settlements.get(id);
    if (row === undefined || row.generation > generation) return [];
    const was = row.status;
    if (!move(row, 'failed')) return [];
    release(row, null);
    if (!isIncluded || harness.off === 'incoming: fee kept on chain failure') returnFee(row);
    Object.assign(row, { failure_code: values.code, failure_message: values.message });
    return [
      ...(row.status === 'failed' ? outbox.insert(values.failed) : []),
      ...(isUnpaid(was) ? [] : outbox.insert(values.reversed)),
    ];
  };

  type End = { subject: string; prefix: string };
  /** The message of a redeem or an expiry, which the statement completes from the row. */
  const publishEnd = ({ settlement_id }: Settlement, { subject, prefix }: End) =>
    outbox.insert(JSON.stringify([{ subject, msg_id: prefix + settlement_id, payload: null }]));

  const consume = createConsumeTables(harness, { settlements, move, windowElapsed, publishEnd });
  const using = createUseTables(harness, { settlements, isUsable });
  const authorizations = authorizationModels(harness, {
    ...{ settlements, payers, delegates, move, show, isUsable, publishEnd },
    insertOutbox: outbox.insert,
  });

  type PayerSnapshot = Pick<
    Payer,
    'wallet_id' | 'account_id' | 'owner' | 'authority' | 'balance' | 'allowance'
  > & {
    slot: bigint;
    per_payment: bigint;
    daily: bigint;
  };
  const savePayer = ({ slot, per_payment, daily, ...snapshot }: PayerSnapshot): unknown[] => {
    const known = payers.get(snapshot.wallet_id);
    const { authority, balance, allowance, account_id } = snapshot;
    if (!delegates.has(account_id)) {
      const caps = { ...NO_CAPS, per_payment, daily, approval_above: null };
      delegates.set(account_id, { ...caps, delegate_id: account_id, account_id, held: 0n, spent: 0n });
    }
    if (known === undefined)
      payers.set(snapshot.wallet_id, { ...snapshot, as_of_slot: slot, included_slot: 0n, held: 0n });
    else if (known.as_of_slot < slot && known.included_slot <= slot)
      Object.assign(known, { authority, balance, allowance, as_of_slot: slot });
    return [];
  };

  const claimStalled = ({ limit }: { limit: number }): unknown[] => {
    if (harness.off === 'sweep of settlement') return [];
    const stalled = rows()
      .filter((row) => {
        if (row.rail !== 'quittance') return false;
        if (row.chain_status !== 'pending' && row.chain_status !== 'confirmed') return false;
        return row.progressed_at < now() - STALLED_MS[row.chain_status];
      })
      .sort((a, b) => a.progressed_at - b.progressed_at)
      .slice(0, limit);
    return stalled.map((row) => {
      row.dispatch_count += 1;
      row.progressed_at = now();
      harness.trace('settlements', `${row.settlement_id} is dispatched again (${row.dispatch_count})`);
      const { owner, authority } = payers.get(row.wallet_id)!;
      const generation = harness.off === 'generation in the job' ? 0 : row.generation;
      const capture_amount = row.ceiling === null ? null : row.quote_amount;
      const isLost = harness.off === 'extension: its quote in the job of the sweep';
      const extension_tokens = isLost ? null : extensionTokens(row);
      const created_at = row.capturing_at ?? row.created_at;
      return { ...row, generation, created_at, owner, authority, capture_amount, extension_tokens };
    });
  };

  /** Mutations: a call skips one of its reads. */
  const isNotRead = (call: Call | undefined): boolean =>
    harness.off === 'attempt read first' ||
    (harness.off === 'attempt read after a refusal' && call?.isRefused === true);

  const outgoing = createOutgoingSettlement(harness, {
    ...{ settlements, payers, delegates, approvals, find: show },
  });
  const models: Model[] = [
    ...acceptModels(harness, {
      ...{ settlements, payers, delegates, approvals, isUsable, insertOutbox: outbox.insert },
    }),
    ...approvals.models,
    ...consume.models,
    ...using.models,
    ...authorizations,
    ...watchModels(harness, { settlements, payers, insertOutbox: outbox.insert }),
    ...outgoing.models,
    model<{ accountId: string; attemptId: string }>(
      /as attempt_quote_token.* where settlement_id = \(\s*select k\.settlement_id [^)]*'attempt'[^)]*\)$/s,
      'attemptId accountId attemptId',
      ({ accountId, attemptId }) => {
        const call = currentCall();
        if (call !== undefined) call.attemptReadAt = now();
        const found = findAcceptance(settlements, { account_id: accountId, payment_attempt_id: attemptId });
        if (found === undefined || isNotRead(call)) return [];
        const { row, id, quote_id, quote_token } = found;
        const own = { attempt_quote_id: quote_id, attempt_quote_token: quote_token };
        return show(row).map((shown) => ({
          ...(shown as object),
          ...{ ...own, extension_id: id === row.settlement_id ? null : id },
        }));
      },
    ),
    model<{ id: string }>(/as of_kind on true where settlement_id = \$1$/, 'id', ({ id }) =>
      show(settlements.get(id)),
    ),
    model<{ id: string }>(
      /as usable from .* as of_kind on true where settlement_id = \$1 and service_id = \$2$/s,
      'id _',
      ({ id }) => show(settlements.get(id)),
    ),
    model<{ id: string }>(/from payers\s+where wallet_id = \$1 and account_id = \$2/, 'id _', ({ id }) =>
      payers.has(id) ? [{ ...payers.get(id)! }] : [],
    ),
    // No acceptance is under way while a statement runs.
    model<{ accountId: string }>(
      /from payers\s+where account_id = \$1 .*for key share/,
      'accountId',
      ({ accountId }) => {
        const call = currentCall();
        if (call !== undefined) call.isRefused = true;
        return [...payers.values()]
          .filter((payer) => payer.account_id === accountId)
          .map((payer) => ({ ...payer }));
      },
    ),
    model<{ quoteId: string; accountId: string }>(
      /where settlement_id = \([^)]*'quote' and k\.key = \$1\) and account_id = \$2$/,
      'quoteId accountId',
      ({ quoteId, accountId }) => {
        const call = currentCall();
        if (call !== undefined) call.quoteReadAt = now();
        if (isNotRead(call) || harness.off === 'quote read after a refusal') return [];
        const paying = rows()
          .filter((row) => row.account_id === accountId)
          .flatMap(acceptancesOf)
          .find((one) => one.quote_id === quoteId && isPayingQuote(one));
        return show(paying?.row);
      },
    ),
    model(/select from \(\s*select taken_at[\s\S]* as lost/, '_ _', () => [{ lost: false }]),
    model(
      /insert into payers/,
      '_ _ per_payment daily _ wallet_id account_id owner authority balance allowance slot',
      savePayer,
    ),
    model<{ given: string }>(
      /update settlements as s set tx_hash = input\.tx_hash, generation = input\.generation, progressed_at/,
      'given _ _',
      ({ given }) => {
        for (const { object_id, tx_hash, generation } of JSON.parse(given) as Progress[]) {
          const row = settlements.get(object_id);
          if (row !== undefined && isUnpaid(row.status) && row.generation < generation)
            Object.assign(row, { tx_hash, generation, progressed_at: now() });
        }
        return [];
      },
    ),
    model<{ ids: readonly string[] }>(
      /as usable from .* as of_kind on true where settlement_id = any\(\$1/s,
      'ids',
      ({ ids }) => [...new Set(ids)].flatMap((id) => show(settlements.get(id))),
    ),
    model<{ given: string; messages: string }>(
      /case when message\.subject =/,
      // No payment of a run pays fees to the platform.
      'given _ _ platform _ _ messages finalized',
      allIncluded,
    ),
    model<{ ids: readonly string[] }>(
      /of_kind\.resource, created_at, ceiling\s+from .* as of_kind on true where settlement_id = any\(\$1/s,
      'ids',
      ({ ids }) => [...new Set(ids)].flatMap((id) => show(settlements.get(id))),
    ),
    model<{ id: string; generation: number }>(
      /set chain_status = 'pending',\s+holding = wallet_id is not null/,
      'id generation',
      ({ id, generation }) => {
        const row = settlements.get(id);
        if (row === undefined || row.holding || row.generation !== generation) return [];
        if (!move(row, 'reopened')) return [];
        forks.set(row.settlement_id, { ...forkOf(row), at: now() });
        // A payment of another client has no wallet here.
        const payer = payers.get(row.wallet_id);
        if (payer === undefined) return [];
        row.holding = true;
        payer.held += row.quote_amount;
        const delegate = delegates.get(limitsOf(row));
        if (delegate === undefined) return [];
        delegate.held += row.quote_amount;
        delegate.spent -= row.quote_amount;
        return [];
      },
    ),
    model(
      /^\s*with before as .*failure_code = \$.*where not was in \('pending', 'capturing'\)/s,
      'id id code message id generation isIncluded id platform _ failed reversed',
      failed,
    ),
    model(/set dispatch_count = dispatch_count \+ 1.*rail = 'quittance'/s, 'limit', claimStalled),
    model<{ given: string } & End>(
      /update settlements as s set status = 'redeemed', redeemed_at = app_now\(\), redeem_id = input\.redeem_id,\s+expires_from = null\s+from/,
      'given _ _ subject prefix',
      ({ given, ...end }) =>
        (JSON.parse(given) as Redeeming[]).flatMap(({ settlement_id, token_hash, redeem_id }) => {
          const row = settlements.get(settlement_id);
          if (row === undefined || row.settlement_token === null) return [];
          if (byteaText(tokenHash(row.settlement_token)) !== token_hash) return [];
          if (row.refund_reserved >= row.quote_amount - row.fee_amount) return [];
          if (windowElapsed(row) || !move(row, 'redeem')) return [];
          Object.assign(row, { redeemed_at: appNow(), redeem_id });
          return publishEnd(row, end).map((published) => ({ ...row, ...published }));
        }),
    ),
    model<End>(/update settlements set status = 'expired'/, '_ _ subject prefix', (end) => {
      const elapsed = rows().filter((row) => row.status === 'issued' && windowElapsed(row));
      for (const row of elapsed) move(row, 'elapse');
      return elapsed.flatMap((row) => publishEnd(row, end));
    }),
    ...reservationModels(harness, { settlements, payers, reservations }),
    ...outbox.models((id) => settlements.get(id)?.status === 'pending'),
  ];

  return {
    ...{
      approvals,
      consume,
      using,
      feeAccounts,
      reservations,
      settlements,
      payers,
      delegates,
      outgoing,
      outbox,
    },
    models,
  };
};
