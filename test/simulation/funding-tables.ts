import { HOLDS_NOTHING } from '../../services/funding/domain/refund.ts';
import type { RefundRow } from '../../services/funding/store/refunds.ts';
import { createOutbox, EPOCH, type Model, model } from './database.ts';
import type { World } from './world.ts';

export type Refund = Omit<RefundRow, 'status' | 'elapsed'> & {
  /** `new` and `void` are never shown to anybody. */
  status: RefundRow['status'] | 'new' | 'void';
  generation: number;
  slot: number | null;
  progressedAt: number;
  isReleased: boolean;
};

export type FundingTables = ReturnType<typeof createFundingTables>;

const LEFT_MS = 60_000;
const DUE_MS: Partial<Record<Refund['status'], number>> = { submitted: 15_000, confirmed: 45_000 };

/** The refunds of funding with the guards of services/funding/store. Nobody withdraws in the simulation. */
export const createFundingTables = (world: World) => {
  const refunds = new Map<string, Refund>();
  const outbox = createOutbox(world);
  const { now } = world;
  const appNow = () => EPOCH + now();
  const isNothing = (row: Refund) =>
    row.status === 'void' || (HOLDS_NOTHING as readonly string[]).includes(row.status);

  const show = (row: Refund | undefined): unknown[] =>
    row === undefined ? [] : [{ ...row, elapsed: row.pending_until <= appNow() }];
  const move = (row: Refund, to: Refund['status']): void => {
    world.trace('refunds', `${row.refund_id}: ${row.status} → ${to}`);
    row.status = to;
    row.progressedAt = now();
  };

  type Inserted = Pick<
    Refund,
    'refund_id' | 'settlement_id' | 'vendor_account_id' | 'reason' | 'created_at' | 'pending_until'
  >;
  const insert = (given: Inserted): unknown[] => {
    world.call(given.refund_id, `R${refunds.size}`);
    const empty = { service_id: '', delegate_id: null, payout_address: '', payer_account_id: '' };
    const transfer = { amount: 0n, destination_address: '', destination_token_account: '', tx_hash: null };
    refunds.set(given.refund_id, {
      ...{ ...empty, ...transfer, ...given, failure_code: null, failure_message: null },
      ...{ status: 'new', generation: 0, slot: null, progressedAt: now(), isReleased: false },
    });
    world.trace('refunds', `${given.refund_id} of ${given.settlement_id} is begun`);
    return [];
  };

  type Fact = {
    to: RefundRow['status'];
    generation: number;
    txHash: string | null;
    slot: number | null;
    code: string | null;
    message: string | null;
    id: string;
    from: readonly string[];
  };
  const advance = ({ to, generation, txHash, slot, code, message, id, from }: Fact): unknown[] => {
    const row = refunds.get(id);
    if (row === undefined || row.generation > generation || !from.includes(row.status)) return [];
    move(row, to);
    Object.assign(row, { generation, failure_code: code, failure_message: message });
    row.tx_hash = txHash ?? row.tx_hash;
    row.slot = slot ?? row.slot;
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
      'service_id delegate_id payout_address payer_account_id amount destination_address destination_token_account id',
      ({ id, ...opened }) => {
        const row = refunds.get(id);
        if (row?.status !== 'new') return [];
        Object.assign(row, opened);
        move(row, 'pending_signature');
        return show(row);
      },
    ),
    model<{ id: string }>(
      /update refunds set status = 'void' where status = 'new' and refund_id = \$1/,
      'id',
      ({ id }) => {
        const row = refunds.get(id);
        if (row?.status !== 'new') return [];
        move(row, 'void');
        return [row];
      },
    ),
    model(/update refunds set status = 'void'\s+where status = 'new'\s+and progressed_at/, '', () => {
      for (const row of refunds.values())
        if (row.status === 'new' && row.progressedAt < now() - LEFT_MS) move(row, 'void');
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
    model<{ limit: number }>(/where released_at is null and status = any/, '_ limit', ({ limit }) =>
      [...refunds.values()]
        .filter((row) => !row.isReleased && isNothing(row))
        .sort((a, b) => a.progressedAt - b.progressedAt)
        .slice(0, limit)
        .map((row) => {
          row.progressedAt = now();
          return { id: row.refund_id };
        }),
    ),
    model<{ id: string }>(/with gone as \(delete from refunds/, 'id id _', ({ id }) => {
      const row = refunds.get(id);
      if (row?.status === 'void') refunds.delete(id);
      else if (row !== undefined && isNothing(row)) row.isReleased = true;
      return [];
    }),
    model(
      /update "refunds" set status = \$1, generation = \$2/,
      'to generation txHash slot code message id generation from',
      advance,
    ),
    model<{ to: RefundRow['status']; id: string; from: readonly string[] }>(
      /update "refunds" set status = \$1, progressed_at/,
      'to id from',
      ({ to, id, from }) => {
        const row = refunds.get(id);
        if (row === undefined || !from.includes(row.status)) return [];
        move(row, to);
        return [{ id }];
      },
    ),
    model(/update "refunds" set progressed_at/, '_ limit _', claimDue),
    model(/update "withdrawals" set progressed_at/, '_ _ _', () => []),
    model<{ id: string }>(/from \(\s*select 'dev_fund' as type/, 'id', ({ id }) => {
      const row = refunds.get(id);
      if (row === undefined || row.slot === null || row.tx_hash === null) return [];
      const { amount, tx_hash, service_id, delegate_id, created_at, status } = row;
      const shown = status === 'finalized' ? status : status === 'failed' ? 'reversed' : 'confirmed';
      return [
        {
          ...{ type: 'refund', object_id: id, status: shown, tx_hash, amount, service_id, delegate_id },
          ...{ from_account_id: row.vendor_account_id, to_account_id: row.payer_account_id, created_at },
        },
      ];
    }),
    model<{ json: string }>(/^\s*insert into outbox/, 'json', ({ json }) => outbox.insert(json)),
  ];

  return { refunds, outbox, models };
};
