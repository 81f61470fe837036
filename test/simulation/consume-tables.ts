import type { Event } from '../../services/settlement/record/model/status.ts';
import type { ConsumeRequest } from '../../services/settlement/record/store/consumptions.ts';
import { byteaText, tokenHash } from '../../shared/lib/tokens/packed-token.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { Settlement } from './settlement-rows.ts';

/** A row of `consumptions`: what a request consumed, and the sum of its settlement then. */
type Consumption = {
  settlement_id: string;
  request_id: string;
  units: bigint;
  units_consumed: bigint;
};

/** A request as the statement binds it. */
type Input = Omit<ConsumeRequest, 'settlement_token'> & { token_hash: string };
type Shown = { given: string; subject: string; prefix: string };

/**
 * The table of consumptions, with the guards of
 * services/settlement/record/store/consumptions.ts.
 */
export const createConsumeTables = (
  harness: Harness,
  {
    settlements,
    move,
    windowElapsed,
    isUsable,
    publishEnd,
  }: {
    settlements: Map<string, Settlement>;
    move: (row: Settlement, event: Event) => boolean;
    windowElapsed: (row: Settlement) => boolean;
    isUsable: (row: Settlement) => boolean;
    publishEnd: (row: Settlement, end: { subject: string; prefix: string }) => unknown[];
  },
) => {
  const consumptions: Consumption[] = [];
  const { now, off } = harness;

  const findEarlier = (settlement_id: string, request_id: string) =>
    consumptions.find((row) => row.settlement_id === settlement_id && row.request_id === request_id);

  /** What a request consumes besides earlier uses. Null: nothing, or another amount. */
  const wantedOf = ({ settlement_id, uses }: Input) => {
    const shown = uses.map((use) => ({
      request_id: use.request_id,
      units: BigInt(use.amount!),
      earlier: off === 'unique id of a consume' ? undefined : findEarlier(settlement_id, use.request_id),
    }));
    if (shown.some(({ earlier, units }) => earlier !== undefined && earlier.units !== units)) return null;
    const wanted = shown.filter(({ earlier }) => earlier === undefined);
    return wanted.length === 0 ? null : wanted;
  };

  /** The conditions on the locked row of the settlement. */
  const isOpen = (row: Settlement, { token_hash, event }: Input, units: bigint): boolean => {
    if (row.settlement_token === null || byteaText(tokenHash(row.settlement_token)) !== token_hash)
      return false;
    if (event === 'use') {
      if (row.status !== 'authorized' || row.max_amount === null) return false;
      if (!isUsable(row)) return false;
      return off === 'ceiling of an authorization' || row.units_consumed + units <= row.max_amount;
    }
    if (row.status !== 'issued' && row.status !== 'redeemed') return false;
    if (row.status === 'issued' && windowElapsed(row)) return false;
    if (row.chain_status !== 'confirmed' && row.chain_status !== 'finalized') return false;
    if (row.refund_reserved > 0n || row.units_total === null) return false;
    return off === 'units left of a consume' || row.units_consumed + units <= BigInt(row.units_total);
  };

  const consume = ({ given, ...end }: Shown): unknown[] =>
    (JSON.parse(given) as Input[]).flatMap((input) => {
      const row = settlements.get(input.settlement_id)!;
      const wanted = wantedOf(input);
      const sum = (wanted ?? []).reduce((total, { units }) => total + units, 0n);
      if (wanted === null || !isOpen(row, input, sum)) return [];
      const redeems = row.status === 'issued';
      for (const { request_id, units } of wanted) {
        row.units_consumed += units;
        consumptions.push({
          settlement_id: row.settlement_id,
          request_id,
          units,
          units_consumed: row.units_consumed,
        });
        harness.trace('consumptions', `${row.settlement_id}: ${request_id} consumes ${units}`);
      }
      if (input.event === 'consume') {
        row.redeemed_at ??= EPOCH + now();
        move(row, 'consume');
      } else if (row.capture_threshold !== null && row.units_consumed >= row.capture_threshold)
        row.capture_due_at = EPOCH + now();
      return [{ ...row, events: redeems ? publishEnd(row, end) : [] }];
    });

  const models: Model[] = [
    model<Shown>(/^with input as .*insert into consumptions /s, 'given _ _ subject prefix', consume),
    model<{ requestIds: readonly string[]; id: string }>(
      /jsonb_build_object\('request_id', request_id, /,
      'requestIds id _',
      ({ requestIds, id }) => {
        const row = settlements.get(id);
        if (row === undefined) return [];
        const found = requestIds.flatMap((requestId) => findEarlier(id, requestId) ?? []);
        const earlier = (off === 'consume read after a refusal' ? [] : found).map((one) => ({
          request_id: one.request_id,
          units: `${one.units}`,
          units_consumed: `${one.units_consumed}`,
        }));
        return [{ ...row, elapsed: windowElapsed(row), usable: isUsable(row), closed: false, earlier }];
      },
    ),
  ];
  return { consumptions, models };
};
