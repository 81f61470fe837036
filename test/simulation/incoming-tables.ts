import { next } from '../../services/settlement/record/model/status.ts';
import type {
  HandOutRequest,
  IncomingRow,
  NewIncomingPayment,
} from '../../services/settlement/record/store/incoming/incoming-payments.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { calls, currentCall, EPOCH, type Model, model, PartOfKeys } from './database.ts';
import type { Harness } from './harness.ts';
import type { Settlement } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';

/** A settlement that a client of another protocol has signed. It has no wallet and no quote. */
export type IncomingSettlement = Settlement &
  Pick<IncomingRow, 'message_hash' | 'memo' | 'hand_out_id'> & {
    handed_out_at: number | null;
    external_id: string | null;
    /** What it accrued at its acceptance. */
    first_fee: bigint;
  };

/** As the statements have them: amounts are text. */
type Inserting = Omit<NewIncomingPayment, 'quote_amount' | 'fee_amount' | 'accrued_fee'> & {
  quote_amount: string;
  fee_amount: string;
  accrued_fee: string;
};
type Redeeming = { settlement_id: string; redeem_id: string; hand_out_id: string | null };

const HANDED_OUT_FOR_MS = 5000;
const LATE_COMMIT_MS = 600_000;
const STALLED_MS = { confirmed: 45_000, unsigned: 70_000, signed: 15_000 };

export const isIncoming = (row: Settlement): row is IncomingSettlement =>
  row.rail === 'x402' || row.rail === 'mpp';

export type IncomingTables = ReturnType<typeof createIncomingTables>;

/**
 * The statements of services/settlement/record/store/incoming/incoming-payments.ts over the tables
 * of settlement, with their guards. The keys decide races, as in the statements.
 */
export const createIncomingTables = (
  harness: Harness,
  { settlements, feeAccounts, outbox }: Pick<SettlementTables, 'settlements' | 'feeAccounts' | 'outbox'>,
) => {
  const { now, off } = harness;
  const appNow = () => EPOCH + now();
  const rows = () => [...settlements.values()].filter(isIncoming);
  /** When the records begin that restores have lost; null: nothing was restored. */
  let lostSince: number | null = null;
  let onHandOut = () => {};
  /** When each success was handed out, by its id. */
  const handOuts = new Map<string, number>();
  /** When each success was reissued, by the settlement, with the id that it had. */
  const reissues = new Map<string, { at: number; ids: string[] }>();

  const isHandedOut = ({ handed_out_at: at }: IncomingSettlement): boolean =>
    at !== null && at > now() - HANDED_OUT_FOR_MS && off !== 'incoming: a hand-out lasts';
  const isRedeemable = ({ refund_reserved, quote_amount, fee_amount }: IncomingSettlement): boolean =>
    refund_reserved < quote_amount - fee_amount;
  const show = (row: IncomingSettlement) => ({
    ...row,
    handed_out: isHandedOut(row),
    is_refunded: !isRedeemable(row),
  });
  const after = ({ status, chain_status: chain }: IncomingSettlement, event: 'redeem' | 'sent' | 'reissue') =>
    next({ status, chain }, event)?.status;

  let hidden = false;
  /** Mutation: a refusal does not come from the record of its payment. */
  const isHidden = (): boolean =>
    hidden || (off === 'incoming: record before a refusal' && currentCall()?.isRefused === true);
  const findBy = (hash: string): IncomingSettlement | undefined =>
    rows().find(({ message_hash }) => message_hash === hash);

  /**
   * Whether the keys of a payment are taken.
   * @throws PartOfKeys if only a part of them is, and the statement has no effect
   */
  const isTaken = (values: Inserting): boolean => {
    const { message_hash, service_id, source_account, external_id } = values;
    const ofMessage = off !== 'incoming: unique message' && findBy(message_hash) !== undefined;
    if (external_id === null) return ofMessage;
    const ofIdentifier = rows().some(
      (row) =>
        row.external_id === external_id &&
        row.service_id === service_id &&
        row.source_account === source_account &&
        row.status !== 'failed',
    );
    if (ofMessage !== ofIdentifier) throw new PartOfKeys();
    return ofMessage;
  };
  const insert = (values: Inserting): IncomingSettlement => {
    const accrued_fee = BigInt(values.accrued_fee);
    const row = {
      ...values,
      quote_amount: BigInt(values.quote_amount),
      fee_amount: BigInt(values.fee_amount),
      ...{ accrued_fee, first_fee: accrued_fee },
      ...{ account_id: null, payment_attempt_id: null, delegate_id: null, wallet_id: null },
      ...{ quote_token: null, expires_at: null, redeem_window_seconds: null },
      ...{ status: 'pending', chain_status: 'pending', tx_hash: null, superseded_tx_hashes: [] },
      ...{ settlement_token: null, issued_at: null, redeem_expires_at: null, redeemed_at: null },
      ...{ redeem_id: null, failure_code: null, failure_message: null, units_total: null },
      ...{
        ceiling: null,
        used: null,
        mode: null,
        unit_price: null,
        ends_at: null,
        at_risk_at: null,
        voided_at: null,
      },
      ...{ extensions: null, payees: null },
      ...{
        usable: false,
        units_consumed: 0n,
        refund_reserved: 0n,
        holding: false,
        generation: 0,
        dispatch_count: 1,
      },
      ...{ created_at: appNow(), elapsed: false, progressed_at: now() },
      ...{ hand_out_id: null, handed_out_at: null },
      // The statements for all rails read columns that are null here.
    } as unknown as IncomingSettlement;
    settlements.set(row.settlement_id, row);
    harness.call(row.settlement_id, `F${rows().length}`);
    harness.trace('settlements', `${row.settlement_id} is accepted (${row.rail}) for ${row.message_hash}`);
    return row;
  };

  type Credit = { first: bigint; perPaid: bigint; later: bigint };
  const creditLeft = (accountId: string, { first, perPaid, later }: Credit): bigint | null => {
    const account = feeAccounts.get(accountId);
    if (account === undefined) return null;
    const { accrued, paid } = account;
    const earned = paid * perPaid < later ? paid * perPaid : later;
    return (first > earned ? first : earned) - accrued + paid;
  };
  const insertAll = ({ json, ...credit }: { json: string } & Credit): unknown[] => {
    const wanted = new Map<string, bigint>();
    const evaluated = (JSON.parse(json) as Inserting[]).map((values, position) => {
      const { vendor_account_id: accountId } = values;
      const fee = BigInt(values.accrued_fee);
      if (fee === 0n) return { values, position, has_credit: true as const };
      const sum = (wanted.get(accountId) ?? 0n) + fee;
      wanted.set(accountId, sum);
      const left = creditLeft(accountId, credit);
      return {
        values,
        position,
        has_credit: left === null ? null : sum <= left || off === 'incoming: credit that is left',
      };
    });
    const inserted = new Map<string, IncomingSettlement>();
    // Before any of them is inserted: one that got a part of its keys undoes them all.
    const free = evaluated.filter(({ values, has_credit }) => has_credit === true && !isTaken(values));
    for (const { values } of free) {
      const row = insert(values);
      inserted.set(row.settlement_id, row);
      if (row.accrued_fee > 0n && off !== 'incoming: credit in the insert')
        feeAccounts.get(values.vendor_account_id)!.accrued += row.accrued_fee;
    }
    return evaluated.map(({ values, position, has_credit }) => {
      const row = inserted.get(values.settlement_id);
      return { ...(row === undefined ? { settlement_id: null } : show(row)), position, has_credit };
    });
  };

  const handOut = ({ settlement_id, hand_out_id }: HandOutRequest): unknown[] => {
    const row = settlements.get(settlement_id) as IncomingSettlement | undefined;
    if (row === undefined || after(row, 'redeem') === undefined) return [];
    if (isHandedOut(row) || !isRedeemable(row)) return [];
    Object.assign(row, { handed_out_at: now(), hand_out_id });
    handOuts.set(hand_out_id, now());
    onHandOut();
    harness.call(hand_out_id, `H${handOuts.size}`);
    harness.trace('settlements', `${settlement_id}: its success is handed out (${hand_out_id})`);
    return [show(row)];
  };

  type End = { subject: string; prefix: string };
  const redeem = ({ settlement_id, redeem_id, hand_out_id }: Redeeming, end: End): unknown[] => {
    const row = settlements.get(settlement_id) as IncomingSettlement | undefined;
    if (row === undefined || !isRedeemable(row)) return [];
    const status = after(row, hand_out_id === null ? 'redeem' : 'sent');
    if (status === undefined) return [];
    if (hand_out_id === null && isHandedOut(row)) return [];
    const isOther = row.rail !== 'x402' || row.hand_out_id !== hand_out_id;
    if (hand_out_id !== null && isOther && off !== 'incoming: hand_out_id in the confirm') return [];
    Object.assign(row, { status, redeemed_at: appNow(), redeem_id, handed_out_at: null });
    harness.trace('settlements', `${settlement_id} is redeemed (${redeem_id})`);
    const { subject, prefix } = end;
    const message = { subject, msg_id: prefix + settlement_id, payload: null };
    return outbox.insert(JSON.stringify([message])).map((published) => ({ settlement_id, ...published }));
  };

  const claimStalled = ({ limit }: { limit: number }): unknown[] =>
    rows()
      .filter(({ chain_status, tx_hash, progressed_at }) => {
        if (chain_status !== 'pending' && chain_status !== 'confirmed') return false;
        const age = chain_status === 'confirmed' ? 'confirmed' : tx_hash === null ? 'unsigned' : 'signed';
        return progressed_at < now() - STALLED_MS[age];
      })
      .sort((a, b) => a.progressed_at - b.progressed_at)
      .slice(0, limit)
      .map((row) => {
        row.dispatch_count += 1;
        row.progressed_at = now();
        harness.trace('settlements', `${row.settlement_id} made no progress and is looked for`);
        return { ...row };
      });

  const models: Model[] = [
    model<{ json: string } & Credit>(
      /as has_credit\s+from input left join fee_account/,
      'json first perPaid later',
      insertAll,
    ),
    model<{ ids: string[] }>(/insert into fee_accounts/, 'ids', ({ ids }) => {
      for (const id of ids) if (!feeAccounts.has(id)) feeAccounts.set(id, { accrued: 0n, paid: 0n });
      return [];
    }),
    model<{ hashes: string[] }>(
      /as of_kind on true\s+where settlement_id in \(\s+select settlement_id from settlement_keys\s+where kind = 'message' and key = any\(/,
      'hashes',
      ({ hashes }) =>
        isHidden() ? [] : [...new Set(hashes)].flatMap((hash) => findBy(hash) ?? []).map(show),
    ),
    model<{ hash: string }>(
      /as of_kind on true where settlement_id = \(\s+select k\.settlement_id from settlement_keys as k where k\.kind = 'message' and k\.key = \$1\)$/,
      'hash',
      ({ hash }) => {
        const call = currentCall();
        if (call !== undefined) call.attemptReadAt = now();
        const row = findBy(hash);
        return row === undefined || isHidden() ? [] : [show(row)];
      },
    ),
    model<{ service: string; source: string; external: string }>(
      /where kind = 'external_id'\s+and key = \$1 \|\| '\/' \|\| \$2 \|\| '\/' \|\| \$3$/,
      'service source external',
      ({ service, source, external }) =>
        rows().filter(
          (row) =>
            row.service_id === service &&
            row.source_account === source &&
            row.external_id === external &&
            row.status !== 'failed',
        ),
    ),
    model<{ json: string }>(
      /set handed_out_at = app_now\(\), hand_out_id = input\.hand_out_id/,
      'json ids',
      ({ json }) => (JSON.parse(json) as HandOutRequest[]).flatMap(handOut),
    ),
    model<{ json: string } & End>(
      /redeem_id = input\.redeem_id\s+from delivered/,
      'json ids subject prefix',
      ({ json, ...end }) => (JSON.parse(json) as Redeeming[]).flatMap((one) => redeem(one, end)),
    ),
    model<{ id: string; redeemId: string }>(
      /set handed_out_at = null, hand_out_id = null\s+from changed/,
      'id account service redeemId',
      ({ id, redeemId }) => {
        const row = settlements.get(id) as IncomingSettlement | undefined;
        const status = row === undefined || row.rail !== 'x402' ? undefined : after(row, 'reissue');
        if (row === undefined || status === undefined || row.refund_reserved > 0n) return [];
        if (row.redeem_id !== row.hand_out_id || row.redeem_id !== redeemId) return [];
        const nothing = { redeemed_at: null, redeem_id: null, handed_out_at: null, hand_out_id: null };
        Object.assign(row, { status, ...nothing });
        reissues.set(id, { at: now(), ids: [...(reissues.get(id)?.ids ?? []), redeemId] });
        harness.trace('settlements', `${id} is reissued`);
        return [{ id }];
      },
    ),
    model(/set dispatch_count = dispatch_count \+ 1.*rail in \('x402', 'mpp'\)/s, 'limit', claimStalled),
    model(/select min\(taken_at\) - .* as since\s+from \(/, '', () => [{ since: lostSince }]),
  ];

  return {
    models,
    rows,
    handOuts,
    reissues,
    /** As the service reads it, at most a second late. */
    lostSince: (): string | null => (lostSince === null ? null : isoTime(lostSince)),
    /** An operator records the restore of a backup. */
    recordRestore: (takenAt: number) => {
      // Mutation: nobody knows that records are lost, and nothing is searched.
      if (off === 'incoming: search after a restore') return;
      const since = EPOCH + takenAt - LATE_COMMIT_MS;
      if (lostSince === null || since < lostSince) lostSince = since;
    },
    /** Mutation: from now on no call finds the record of a message. */
    hide: (): void => {
      hidden = true;
    },
    onHandOut: (listener: () => void) => {
      onHandOut = listener;
    },
    /** The call of the current context is refused, so that it reads the record once more. */
    markRefused: () => {
      const call = calls.getStore();
      if (call !== undefined) call.isRefused = true;
    },
  };
};
