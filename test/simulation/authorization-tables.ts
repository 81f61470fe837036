import type { Event } from '../../services/settlement/record/model/status.ts';
import type { NewCapture, NewVoid } from '../../services/settlement/record/store/authorizations.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import { type Delegate, extensionTokens, limitsOf, type Payer, type Settlement } from './settlement-rows.ts';

/** What the statements of authorizations change besides the settlement. */
type Tables = {
  settlements: Map<string, Settlement>;
  payers: Map<string, Payer>;
  delegates: Map<string, Delegate>;
  move: (row: Settlement, event: Event) => boolean;
  show: (row: Settlement | undefined) => unknown[];
  isUsable: (row: Settlement) => boolean;
  insertOutbox: (json: string) => unknown[];
  publishEnd: (row: Settlement, end: { subject: string; prefix: string }) => unknown[];
};

/**
 * The statements that end authorizations, with the guards of
 * services/settlement/record/store/authorizations.ts.
 */
export const authorizationModels = (harness: Harness, tables: Tables): Model[] => {
  const { settlements, payers, delegates, move, show, isUsable } = tables;
  const { off } = harness;
  const appNow = () => EPOCH + harness.now();

  const withPayer = (row: Settlement) =>
    show(row).map((shown) => {
      const { owner, authority } = payers.get(row.wallet_id)!;
      const extension_tokens = extensionTokens(row);
      return { ...(shown as object), owner, authority, extension_tokens, may_be_captured: false };
    });

  const release = (row: Settlement, amount: bigint): void => {
    payers.get(row.wallet_id)!.held -= amount;
    const delegate = delegates.get(limitsOf(row));
    if (delegate !== undefined) delegate.held -= amount;
  };

  const capture = ({ given, messages }: { given: string; messages: string }): unknown[] => {
    const jobs = JSON.parse(messages) as { payload: { settlement_id: string } }[];
    return (JSON.parse(given) as NewCapture[]).flatMap((one) => {
      const row = settlements.get(one.settlement_id);
      if (row === undefined || row.status !== 'authorized' || row.ceiling === null) return [];
      const isStale = row.used !== BigInt(one.used) || (one.beyond_use && !isUsable(row));
      if (isStale && off !== 'a capture decides on the newest use') return [];
      if (!move(row, 'capture')) return [];
      release(row, row.quote_amount - BigInt(one.amount));
      Object.assign(row, {
        quote_amount: BigInt(one.amount),
        fee_amount: BigInt(one.fee),
        ...{ due_at: null, retry_at: null, capturing_at: appNow() },
      });
      const own = jobs.filter(({ payload }) => payload.settlement_id === row.settlement_id);
      return [{ ...row, outbox: tables.insertOutbox(JSON.stringify(own)) }];
    });
  };

  const isDue = ({ due_at: due, retry_at: retry }: Settlement): boolean =>
    due !== null && due <= appNow() && (retry ?? 0) <= appNow();

  const postpone = ({ seconds, id }: { seconds: number; id: string }): unknown[] => {
    const row = settlements.get(id)!;
    if (row.status !== 'authorized') return [];
    harness.trace('settlements', `${id} is captured later`);
    row.retry_at = off === 'capture over a cap: decided again' ? Infinity : appNow() + seconds * 1000;
    if (off === 'capture over a cap: its ceiling stays held') release(row, row.quote_amount);
    return [];
  };

  /** The payer ends one. */
  const close = ({ account, id }: { account: string; id: string }): unknown[] => {
    const row = settlements.get(id);
    if (row?.account_id !== account || row.status !== 'authorized') return [];
    harness.trace('settlements', `${id} is closed by its payer`);
    if (off !== 'closing: nothing is used afterwards') row.due_at = Math.min(row.due_at!, appNow());
    return [{ id }];
  };

  type Ending = { given: string; subject: string; prefix: string };
  const end = ({ given, ...event }: Ending): unknown[] =>
    (JSON.parse(given) as NewVoid[]).flatMap((one) => {
      const row = settlements.get(one.settlement_id);
      if (row === undefined || row.status !== 'authorized') return [];
      const isStale = one.used !== null && row.used !== BigInt(one.used);
      if (isStale && off !== 'a void decides on the newest use') return [];
      if (!move(row, 'void')) return [];
      release(row, row.quote_amount);
      Object.assign(row, { holding: false, due_at: null, voided_at: appNow() });
      return [{ ...row, used: row.used, events: tables.publishEnd(row, event) }];
    });

  return [
    model<{ id: string }>(
      /as may_be_captured.* as of_kind on true where settlement_id = \$1 and service_id = \$2$/s,
      'id _',
      ({ id }) => {
        const row = settlements.get(id);
        return row === undefined || row.ceiling === null ? [] : withPayer(row);
      },
    ),
    model<{ limit: number }>(/as of_kind on true where due_at <= app_now\(\)/, 'limit', ({ limit }) =>
      [...settlements.values()].filter(isDue).slice(0, limit).flatMap(withPayer),
    ),
    // No database of settlement is restored in the simulation.
    model(/as of_kind on true where due_at > app_now\(\)/, '_', () => []),
    model<{ seconds: number; id: string }>(/set retry_at = app_now\(\) \+/, 'seconds id', postpone),
    model<{ account: string; id: string }>(/update authorizations set due_at = least/, 'account id', close),
    model(/set status = 'capturing'/, 'given messages', capture),
    model(/set status = 'voided'/, 'given subject prefix', end),
  ];
};
