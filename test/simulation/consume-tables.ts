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
    publishEnd,
  }: {
    settlements: Map<string, Settlement>;
    move: (row: Settlement, event: Event) => boolean;
    windowElapsed: (row: Settlement) => boolean;
    publishEnd: (row: Settlement, end: { subject: string; prefix: string }) => unknown[];
  },
) => {
  const consumptions: Consumption[] = [];
  const { now, off } = harness;

  const findEarlier = (settlement_id: string, request_id: string) =>
    consumptions.find((row) => row.settlement_id === settlement_id && row.request_id === request_id);

  /** The conditions on the locked row of the settlement. */
  const isOpen = (row: Settlement, { token_hash }: Input, units: bigint): boolean => {
    if (row.settlement_token === null || byteaText(tokenHash(row.settlement_token)) !== token_hash)
      return false;
    if (row.status !== 'issued' && row.status !== 'redeemed') return false;
    if (row.status === 'issued' && windowElapsed(row)) return false;
    if (row.chain_status !== 'confirmed' && row.chain_status !== 'finalized') return false;
    if (row.refund_reserved > 0n || row.units_total === null) return false;
    return off === 'units left of a consume' || row.units_consumed + units <= BigInt(row.units_total);
  };

  const consume = ({ given, ...end }: Shown): unknown[] =>
    (JSON.parse(given) as Input[]).flatMap((input) => {
      const { settlement_id, request_id } = input;
      const row = settlements.get(settlement_id)!;
      const units = BigInt(input.units);
      const isRepeat =
        off !== 'unique id of a consume' && findEarlier(settlement_id, request_id) !== undefined;
      if (isRepeat || !isOpen(row, input, units)) return [];
      const redeems = row.status === 'issued';
      row.units_consumed += units;
      const { units_consumed } = row;
      consumptions.push({ settlement_id, request_id, units, units_consumed });
      harness.trace('consumptions', `${settlement_id}: ${request_id} consumes ${units}`);
      row.redeemed_at ??= EPOCH + now();
      move(row, 'consume');
      return [{ ...row, events: redeems ? publishEnd(row, end) : [] }];
    });

  const models: Model[] = [
    model<Shown>(/^with input as .*insert into consumptions /s, 'given _ _ _ _ _ _ subject prefix', consume),
    model<{ requestId: string; id: string }>(
      /left join consumptions as c on/,
      'requestId id _',
      ({ requestId, id }) => {
        const row = settlements.get(id);
        if (row === undefined) return [];
        const found = off === 'consume read after a refusal' ? undefined : findEarlier(id, requestId);
        const earlier = {
          earlier_units: found?.units ?? null,
          earlier_consumed: found?.units_consumed ?? null,
        };
        return [{ ...row, ...earlier, elapsed: windowElapsed(row), closed: false, forgotten: false }];
      },
    ),
  ];
  return { consumptions, models };
};
