import { EPOCH, model } from './database.ts';
import type { Payer, Settlement } from './settlement-tables.ts';
import type { World } from './world.ts';

/** One of the attempts that services/settlement/store/accept.ts binds as JSON. */
type Values = {
  settlement_id: string;
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string | null;
  wallet_id: string;
  quote_id: string;
  quote_token: string;
  vendor_account_id: string;
  service_id: string;
  quote_amount: bigint;
  fee_amount: bigint;
  redeem_window_seconds: number;
  units_total: number | null;
  expires_at: string;
};

/**
 * The model of accepting: the `judged` step of the statement is `judge` here, with the same verdicts in the same
 * order; a limit more is a line more in each. Then `decided`: those of one wallet take their amounts in turn. What other transactions have inserted is seen as of the snapshot, so
 * the unique indexes decide last; rows that the statement locks (`for update`) are seen in their newest version.
 */
export const acceptModel = (
  world: World,
  {
    settlements,
    payers,
    insertOutbox,
  }: {
    settlements: Map<string, Settlement>;
    payers: Map<string, Payer>;
    insertOutbox: (json: string) => unknown[];
  },
) => {
  const { now, random, off } = world;
  const appNow = () => EPOCH + now();
  /** When each row became visible: a snapshot may be from before. */
  const insertedAt = new Map<string, number>();
  const isAttempt = (row: Settlement, { account_id, payment_attempt_id }: Values) =>
    row.account_id === account_id && row.payment_attempt_id === payment_attempt_id;
  const isPaying = (row: Settlement, { quote_id }: Values) =>
    row.quote_id === quote_id && row.status !== 'failed';

  const heldOf = (payer: Payer): bigint => (off === 'conditional holds' ? 0n : payer.held);

  const judge = (values: Values, snapshot: number): string => {
    const seen = [...settlements.values()].filter((row) => insertedAt.get(row.settlement_id)! <= snapshot);
    const known = seen.some((row) => isAttempt(row, values));
    const payer = payers.get(values.wallet_id);

    if (known && off !== 'attempt looked up first') return 'known';
    if (seen.some((row) => isPaying(row, values))) return 'quote_taken';
    if (Date.parse(values.expires_at) <= appNow()) return 'quote_expired';
    if (payer === undefined) return 'payer_unknown';
    if (payer.balance - heldOf(payer) < values.quote_amount) return 'balance_short';
    if (payer.allowance - heldOf(payer) < values.quote_amount) return 'allowance_short';
    return known ? 'known' : 'accepted';
  };

  const violatesIndex = (values: Values): boolean =>
    [...settlements.values()].some(
      (row) => isAttempt(row, values) || (off !== 'unique quote index' && isPaying(row, values)),
    );

  const acceptAll = ({ given, messages }: { given: string; messages: string }): unknown[] => {
    const snapshot = now() - random.between(0, 30);
    const offers = (JSON.parse(given) as (Values & { quote_amount: string; fee_amount: string })[]).map(
      (one): Values => ({
        ...one,
        quote_amount: BigInt(one.quote_amount),
        fee_amount: BigInt(one.fee_amount),
      }),
    );
    const outgoing = JSON.parse(messages) as { payload: { settlement_id: string } }[];
    const taken = new Map<string, bigint>();
    const decided = offers.map((values) => {
      const alone = judge(values, snapshot);
      if (alone !== 'accepted') return { values, verdict: alone };
      const payer = payers.get(values.wallet_id)!;
      const sum = (taken.get(values.wallet_id) ?? 0n) + values.quote_amount;
      taken.set(values.wallet_id, sum);
      const least = payer.balance < payer.allowance ? payer.balance : payer.allowance;
      return { values, verdict: least - heldOf(payer) < sum ? 'crowded' : 'accepted' };
    });
    return decided.map(({ values, verdict }) => {
      const { settlement_id } = values;
      if (verdict !== 'accepted') return { settlement_id, verdict, outbox: [] };
      if (violatesIndex(values)) return { settlement_id, verdict: 'raced', outbox: [] };
      insert(values);
      const told = outgoing.filter(({ payload }) => payload.settlement_id === settlement_id);
      return { settlement_id, verdict, outbox: insertOutbox(JSON.stringify(told)) };
    });
  };

  const insert = (values: Values): void => {
    const { settlement_id: settlementId, payment_attempt_id: attemptId, ...columns } = values;
    const payer = payers.get(values.wallet_id)!;
    payer.held += values.quote_amount;
    insertedAt.set(settlementId, now());
    settlements.set(settlementId, {
      ...columns,
      settlement_id: settlementId,
      payment_attempt_id: attemptId,
      status: 'pending',
      chain_status: 'pending',
      tx_hash: null,
      superseded_tx_hashes: [],
      settlement_token: null,
      redeem_expires_at: null,
      redeemed_at: null,
      redeem_id: null,
      units_consumed: 0,
      failure_code: null,
      failure_message: null,
      created_at: appNow(),
      elapsed: false,
      holding: true,
      generation: 0,
      drive: 1,
      progress_at: now(),
      issued_at: null,
    });
    world.call(settlementId, `S${settlements.size}(${attemptId})`);
    world.trace('settlements', `${settlementId} is accepted, held ${payer.held} of ${payer.balance}`);
  };

  return model<{ given: string; messages: string }>(/known\.found as is_known/, 'given messages', acceptAll);
};
