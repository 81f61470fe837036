import { EPOCH, model } from './database.ts';
import type { Payer, Settlement } from './settlement-tables.ts';
import type { World } from './world.ts';

/** What services/settlement/store/accept.ts binds, by the names that the model gives to `$1`, `$2` and so on. */
const PARAMETERS = `
  accountId attemptId
  quoteId
  walletId
  expiresAt gross gross
  settlementId accountId attemptId delegateId
  walletId quoteId quoteToken vendorAccountId
  serviceId gross feeMicro windowSeconds unitsTotal
  gross walletId
  messages`;
type Values = {
  accountId: string;
  attemptId: string;
  quoteId: string;
  walletId: string;
  expiresAt: string;
  gross: bigint;
  settlementId: string;
  delegateId: string | null;
  quoteToken: string;
  vendorAccountId: string;
  serviceId: string;
  feeMicro: bigint;
  windowSeconds: number;
  unitsTotal: number | null;
  messages: string;
};

/**
 * The model of `acceptAttempt`: the `judged` step of the statement is `judge` here, with the same verdicts in the same
 * order; a limit more is a line more in each. What other transactions have inserted is seen as of the snapshot, so
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
  const isAttempt = (row: Settlement, { accountId, attemptId }: Values) =>
    row.account_id === accountId && row.payment_attempt_id === attemptId;
  const isPaying = (row: Settlement, { quoteId }: Values) =>
    row.quote_id === quoteId && row.status !== 'failed';

  const judge = (values: Values): string => {
    const { walletId, expiresAt, gross } = values;
    const snapshot = now() - random.between(0, 30);
    const seen = [...settlements.values()].filter((row) => insertedAt.get(row.settlement_id)! <= snapshot);
    const known = seen.some((row) => isAttempt(row, values));
    const payer = payers.get(walletId);
    const held = off === 'conditional holds' ? 0n : (payer?.held ?? 0n);

    if (known && off !== 'attempt looked up first') return 'known';
    if (seen.some((row) => isPaying(row, values))) return 'quote_taken';
    if (Date.parse(expiresAt) <= appNow()) return 'quote_expired';
    if (payer === undefined) return 'payer_unknown';
    if (payer.balance - held < gross) return 'balance_short';
    if (payer.allowance - held < gross) return 'allowance_short';
    return known ? 'known' : 'accepted';
  };

  const violatesIndex = (values: Values): boolean =>
    [...settlements.values()].some(
      (row) => isAttempt(row, values) || (off !== 'unique quote index' && isPaying(row, values)),
    );

  const accept = (values: Values): unknown[] => {
    const verdict = judge(values);
    if (verdict !== 'accepted') return [{ verdict, outbox: [] }];
    if (violatesIndex(values)) return [{ verdict: 'raced', outbox: [] }];
    const { settlementId, walletId, gross, attemptId } = values;
    const payer = payers.get(walletId)!;
    payer.held += gross;
    insertedAt.set(settlementId, now());
    settlements.set(settlementId, {
      settlement_id: settlementId,
      account_id: values.accountId,
      payment_attempt_id: attemptId,
      delegate_id: values.delegateId,
      wallet_id: walletId,
      quote_id: values.quoteId,
      quote_token: values.quoteToken,
      vendor_account_id: values.vendorAccountId,
      service_id: values.serviceId,
      quote_amount: gross,
      fee_amount: values.feeMicro,
      status: 'pending',
      chain_status: 'pending',
      tx_hash: null,
      superseded_tx_hashes: [],
      settlement_token: null,
      redeem_window_seconds: values.windowSeconds,
      redeem_expires_at: null,
      redeemed_at: null,
      redeem_id: null,
      units_total: values.unitsTotal,
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
      expires_at: values.expiresAt,
    });
    world.call(settlementId, `S${settlements.size}(${attemptId})`);
    world.trace('settlements', `${settlementId} is accepted, held ${payer.held} of ${payer.balance}`);
    return [{ verdict, outbox: insertOutbox(values.messages) }];
  };

  return model<Values>(/with known as \(\s*select from settlements/, PARAMETERS, accept);
};
