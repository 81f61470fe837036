import { MAX_EXTENSIONS } from '../../shared/contract/chain-submitter.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import { type Delegate, limitsOf, type Payer, type Settlement } from './settlement-rows.ts';

/** What the statement of an extension has of its input. */
type Extending = Pick<
  Settlement,
  'settlement_id' | 'account_id' | 'payment_attempt_id' | 'wallet_id' | 'delegate_id' | 'service_id'
> & { quote_id: string; quote_amount: bigint };

type Bound = { input: string; quoteId: string; feeMin: bigint; feeBps: bigint } & Record<
  'subject' | 'prefix',
  string
>;

/** What acceptance of every kind has in common (accept-model.ts). */
type Accepting<V extends Extending> = {
  settlements: Map<string, Settlement>;
  payers: Map<string, Payer>;
  delegates: Map<string, Delegate>;
  isUsable: (row: Settlement) => boolean;
  insertOutbox: (json: string) => unknown[];
  valuesOf: (input: string) => V[];
  /** A moment that the statement's snapshot may have. */
  snapshotNow: () => number;
  isVisible: (row: Settlement, snapshot: number) => boolean;
  evaluate: (values: V, snapshot: number, first: () => string | null) => string;
  comparedWith: (values: V, decision: string) => object;
  tabFigures: (values: V, decision: string, snapshot: number) => object;
  takenKeys: (values: V) => number;
  isTaken: (values: V) => boolean;
  insertExtension: (values: V, target: Settlement) => void;
};

/**
 * The statement that accepts an extension, with the guards of
 * services/settlement/record/store/accept-extension.ts. It locks the authorization, so it
 * reads its newest version.
 */
export const extensionModel = <V extends Extending>(harness: Harness, accepting: Accepting<V>): Model => {
  const { settlements, payers, delegates, isUsable } = accepting;
  const { off } = harness;

  /** Whether it was open at a moment, although it may have ended since then. */
  const wasOpen = (row: Settlement, moment: number): boolean => {
    if (row.status === 'voided') return row.voided_at! - EPOCH > moment;
    return row.status === 'capturing' && row.progressed_at > moment;
  };
  const isOpen = (row: Settlement, snapshot: number): boolean => {
    if (off === 'extension: of an open authorization only') return true;
    if (off === 'extension: locks its authorization' && wasOpen(row, snapshot)) return true;
    return row.status === 'authorized' && isUsable(row);
  };
  const findTarget = (values: V, quoteId: string, snapshot: number): Settlement | undefined =>
    [...settlements.values()].find(
      (row) =>
        accepting.isVisible(row, snapshot) &&
        row.quote_id === quoteId &&
        row.ceiling !== null &&
        row.account_id === values.account_id &&
        row.wallet_id === values.wallet_id &&
        row.delegate_id === values.delegate_id &&
        row.service_id === values.service_id &&
        row.extensions!.length < MAX_EXTENSIONS &&
        isOpen(row, snapshot),
    );

  const extend = (target: Settlement, added: bigint, { feeMin, feeBps }: Bound): void => {
    target.ceiling! += added;
    target.quote_amount += added;
    const fee = (target.ceiling! * feeBps) / 10_000n;
    target.fee_amount = fee > feeMin ? fee : feeMin;
    if (off === 'extension: holds the addition') return;
    payers.get(target.wallet_id)!.held += added;
    const delegate = delegates.get(limitsOf(target));
    if (delegate !== undefined) delegate.held += added;
  };

  const accept = (bound: Bound): unknown[] => {
    const snapshot = accepting.snapshotNow();
    const [values] = accepting.valuesOf(bound.input) as [V];
    const target = findTarget(values, bound.quoteId, snapshot);
    const decision = accepting.evaluate(values, snapshot, () =>
      target === undefined ? 'authorization_closed' : null,
    );
    const nothing = {
      extended_id: null,
      extended_token: null,
      extended_ceiling: null,
      extended_ends_at: null,
    };
    const shown = { outbox: [], ...nothing };
    const figures = accepting.tabFigures(values, decision, snapshot);
    const compared = { ...accepting.comparedWith(values, decision), ...figures };
    if (decision !== 'accepted' || target === undefined) return [{ decision, ...shown, ...compared }];
    const conflict = [{ decision: 'conflict', ...shown, ...compared }];
    if (off === 'extension: counts once under a repeat' && accepting.takenKeys(values) > 0) {
      extend(target, values.quote_amount, bound);
      return conflict;
    }
    if (accepting.isTaken(values)) return conflict;
    accepting.insertExtension(values, target);
    extend(target, values.quote_amount, bound);
    const { settlement_id, ceiling, settlement_token, ends_at } = target;
    const text = `${settlement_id} is extended by ${values.quote_amount} to ${ceiling}`;
    harness.trace('settlements', text);
    const event = { subject: bound.subject, msg_id: bound.prefix + values.settlement_id, payload: null };
    return [
      {
        ...{ decision, ...compared },
        outbox: accepting.insertOutbox(JSON.stringify([event])),
        extended_id: settlement_id,
        extended_token: settlement_token,
        extended_ceiling: ceiling,
        extended_ends_at: ends_at,
      },
    ];
  };

  return model<Bound>(
    /existing\.found as is_existing, settled\.found.*as extension_quote_id/s,
    'input _ quoteId quoteId _ feeMin feeBps subject prefix _',
    accept,
  );
};
