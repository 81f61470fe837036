import {
  refunds as machine,
  RESERVES_NOTHING,
  type RefundEvent,
  type RefundState,
} from '../../services/funding/transfers/model/refund.ts';
import type { RefundRow } from '../../services/funding/transfers/store/refunds.ts';
import { refundState } from '../../services/funding/transfers/store.ts';
import { createOutbox, EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';

export type Refund = Omit<RefundRow, 'status' | 'elapsed'> & {
  /** `new` and `void` are never shown. */
  status: RefundState;
  generation: number;
  slot: number | null;
  progressedAt: number;
  isReleased: boolean;
};

export type FundingTables = ReturnType<typeof createFundingTables>;

const LEFT_MS = 60_000;
const DUE_MS: Partial<Record<Refund['status'], number>> = { submitted: 15_000, confirmed: 45_000 };

/**
 * The update of a refund by an event: the columns that it sets, and its guard, in which two events
 * of one target differ.
 */
const guardedBy = (event: RefundEvent, sets: string): RegExp => {
  const guard = refundState.allows(event).sql.replaceAll(/[()]/g, '\\$&');
  return new RegExp(`update "refunds" set status = ${refundState.after(event).sql}, ${sets}.*${guard}`, 's');
};

/**
 * The refunds of funding with the guards of services/funding/transfers/store. The simulation has no
 * withdrawals.
 */
export const createFundingTables = (harness: Harness) => {
  const refunds = new Map<string, Refund>();
  const outbox = createOutbox(harness);
  const { now } = harness;
  const appNow = () => EPOCH + now();
  const isNothing = (row: Refund) => RESERVES_NOTHING.includes(row.status);

  const show = (row: Refund | undefined): unknown[] =>
    row === undefined ? [] : [{ ...row, elapsed: row.pending_until <= appNow() }];
  /** Applies an event to a row by the table. False: the table has no transition for it. */
  const transition = (row: Refund, event: RefundEvent): boolean => {
    const to = machine.next(row.status, event);
    if (to === null) return false;
    harness.trace('refunds', `${row.refund_id}: ${row.status} → ${to}`);
    row.status = to;
    if (event !== 'void') row.progressedAt = now();
    return true;
  };

  type Inserted = Pick<
    Refund,
    'refund_id' | 'settlement_id' | 'vendor_account_id' | 'reason' | 'created_at' | 'pending_until'
  >;
  const insert = (given: Inserted): unknown[] => {
    harness.call(given.refund_id, `R${refunds.size}`);
    const empty = { service_id: '', delegate_id: null, payout_address: '', payer_account_id: '' };
    const transfer = {
      item: null,
      amount: 0n,
      destination_address: '',
      destination_token_account: '',
      tx_hash: null,
    };
    refunds.set(given.refund_id, {
      ...{ ...empty, ...transfer, ...given, failure_code: null, failure_message: null },
      ...{
        status: 'new',
        generation: 0,
        slot: null,
        confirmed_at: null,
        progressedAt: now(),
        isReleased: false,
      },
    });
    harness.trace('refunds', `${given.refund_id} of ${given.settlement_id} begins`);
    return [];
  };

  type Given = {
    generation: number;
    txHash: string | null;
    slot: number | null;
    code: string | null;
    message: string | null;
    id: string;
  };
  const progressed = (event: RefundEvent, given: Given): unknown[] => {
    const { generation, txHash, slot, code, message, id } = given;
    const row = refunds.get(id);
    if (row === undefined || row.generation > generation || !transition(row, event)) return [];
    Object.assign(row, { generation, failure_code: code, failure_message: message });
    row.tx_hash = txHash ?? row.tx_hash;
    row.slot = slot ?? row.slot;
    row.confirmed_at ??= slot === null ? null : appNow();
    return [row];
  };

  const claimDue = ({ limit }: { limit: number }): unknown[] => {
    const isDue = ({ status, pending_until, progressedAt }: Refund): boolean =>
      status === 'pending_signature'
        ? pending_until <= appNow() && progressedAt < now() - 5000
        : progressedAt < now() - (DUE_MS[status] ?? Infinity);
    return [...refunds.values()]
      .filter(isDue)
      .sort((a, b) => a.progressedAt - b.progressedAt)
      .slice(0, limit)
      .map((row) => {
        row.progressedAt = now();
        return { id: row.refund_id, waiting: row.status === 'pending_signature' };
      });
  };

  const models: Model[] = [
    model(
      /insert into refunds/,
      'refund_id settlement_id vendor_account_id reason created_at pending_until',
      insert,
    ),
    model<{ id: string } & Partial<Refund>>(
      /update refunds set status = 'pending_signature'/,
      'service_id delegate_id payout_address payer_account_id amount destination_address destination_token_account item id',
      ({ id, ...opened }) => {
        const row = refunds.get(id);
        if (row === undefined || !transition(row, 'open')) return [];
        Object.assign(row, opened);
        return show(row);
      },
    ),
    model<{ id: string }>(/update refunds set status = 'void'\s+where refund_id = \$1/, 'id', ({ id }) => {
      const row = refunds.get(id);
      return row !== undefined && transition(row, 'void') ? [row] : [];
    }),
    model(/update refunds set status = 'void'\s+where status = 'new'\s+and progressed_at/, '', () => {
      for (const row of refunds.values()) if (row.progressedAt < now() - LEFT_MS) transition(row, 'void');
      return [];
    }),
    model<{ id: string }>(/from refunds where refund_id = \$1$/, 'id', ({ id }) => show(refunds.get(id))),
    model<{ id: string }>(
      /from refunds where refund_id = \$1 and status not in \('new', 'void'\)/,
      'id _',
      ({ id }) => {
        const row = refunds.get(id);
        return row === undefined || ['new', 'void'].includes(row.status) ? [] : show(row);
      },
    ),
    model<{ limit: number }>(/where released_at is null and status in/, 'limit', ({ limit }) =>
      [...refunds.values()]
        .filter((row) => !row.isReleased && isNothing(row))
        .sort((a, b) => a.progressedAt - b.progressedAt)
        .slice(0, limit)
        .map((row) => {
          row.progressedAt = now();
          return { id: row.refund_id };
        }),
    ),
    model<{ id: string }>(/with deleted as \(delete from refunds/, 'id id', ({ id }) => {
      const row = refunds.get(id);
      if (row?.status === 'void') refunds.delete(id);
      else if (row !== undefined && isNothing(row)) row.isReleased = true;
      return [];
    }),
    ...(['signed', 'confirmed', 'finalized', 'failed', 'reopened'] as const).map((event) =>
      model<Given>(
        guardedBy(event, 'generation'),
        'generation txHash slot code message id generation',
        (given) => progressed(event, given),
      ),
    ),
    ...(['cancel', 'elapse'] as const).map((event) =>
      model<{ id: string }>(guardedBy(event, 'progressed_at'), 'id', ({ id }) => {
        const row = refunds.get(id);
        return row !== undefined && transition(row, event) ? [{ id }] : [];
      }),
    ),
    model(/update "refunds" set progressed_at/, 'limit', claimDue),
    model(/update "withdrawals" set progressed_at/, '_', () => []),
    model<{ id: string }>(/from \(\s*select 'dev_fund' as type/, 'id', ({ id }) => {
      const row = refunds.get(id);
      if (row === undefined || row.slot === null || row.tx_hash === null) return [];
      const { amount, tx_hash, service_id, delegate_id, confirmed_at, status } = row;
      const shown = status === 'finalized' ? status : status === 'failed' ? 'reversed' : 'confirmed';
      return [
        {
          ...{ type: 'refund', object_id: id, status: shown, tx_hash, amount, service_id, delegate_id },
          item: row.item,
          ...{
            from_account_id: row.vendor_account_id,
            to_account_id: row.payer_account_id,
            created_at: confirmed_at,
          },
        },
      ];
    }),
    model<{ json: string }>(/^\s*insert into outbox/, 'json', ({ json }) => outbox.insert(json)),
  ];

  return { refunds, outbox, models };
};
