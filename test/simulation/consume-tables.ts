import type { Event } from '../../services/settlement/settlements/model/status.ts';
import type { ConsumeRequest } from '../../services/settlement/settlements/store/consumptions.ts';
import { byteaText, tokenHash } from '../../shared/lib/packed-token.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { Settlement } from './settlement-rows.ts';

/** A row of `consumptions`: what a request consumed, and the sum of its settlement then. */
type Consumption = {
  settlement_id: string;
  request_id: string;
  units: number;
  units_consumed: number;
};

/** A request as the statement binds it. */
type Input = Omit<ConsumeRequest, 'settlement_token'> & { token_hash: string };
type Shown = { given: string; subject: string; prefix: string };

/**
 * The table of consumptions, with the guards of
 * services/settlement/settlements/store/consumptions.ts.
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

  const isSame = (
    row: Consumption,
    { settlement_id, request_id }: Pick<Input, 'settlement_id' | 'request_id'>,
  ) => row.settlement_id === settlement_id && row.request_id === request_id;
  const isKnown = (input: Input): boolean =>
    off !== 'unique id of a consume' && consumptions.some((row) => isSame(row, input));

  /** The conditions on the locked row of the settlement. */
  const isOpen = (row: Settlement, { token_hash, units }: Input): boolean => {
    if (row.settlement_token === null || byteaText(tokenHash(row.settlement_token)) !== token_hash)
      return false;
    if (row.status !== 'issued' && row.status !== 'redeemed') return false;
    if (row.status === 'issued' && windowElapsed(row)) return false;
    if (row.chain_status !== 'confirmed' && row.chain_status !== 'finalized') return false;
    if (row.refund_reserved > 0n || row.units_total === null) return false;
    return off === 'units left of a consume' || row.units_consumed + units <= row.units_total;
  };

  const consume = ({ given, ...end }: Shown): unknown[] =>
    (JSON.parse(given) as Input[])
      .filter((input) => isOpen(settlements.get(input.settlement_id)!, input) && !isKnown(input))
      .map(({ settlement_id, request_id, units }) => {
        const row = settlements.get(settlement_id)!;
        const redeems = row.status === 'issued';
        row.units_consumed += units;
        row.redeemed_at ??= EPOCH + now();
        consumptions.push({ settlement_id, request_id, units, units_consumed: row.units_consumed });
        harness.trace('consumptions', `${settlement_id}: ${request_id} consumes ${units}`);
        move(row, 'consume');
        return { ...row, events: redeems ? publishEnd(row, end) : [] };
      });

  const models: Model[] = [
    model<Shown>(
      /^with prepaid as .*insert into consumptions .*\son conflict do nothing\s/s,
      'given ids subject prefix',
      consume,
    ),
    model<{ requestId: string; id: string }>(
      /left join consumptions as earlier/,
      'requestId id _',
      ({ requestId, id }) => {
        const row = settlements.get(id);
        if (row === undefined) return [];
        const earlier = consumptions.find((one) => isSame(one, { settlement_id: id, request_id: requestId }));
        const found = off === 'consume read after a refusal' ? undefined : earlier;
        const { units = null, units_consumed = null } = found ?? {};
        const elapsed = windowElapsed(row);
        return [{ ...row, elapsed, closed: false, request_units: units, request_consumed: units_consumed }];
      },
    ),
  ];
  return { consumptions, models };
};
