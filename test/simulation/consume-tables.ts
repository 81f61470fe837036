import type { Event } from '../../services/settlement/settlements/model/status.ts';
import type { ConsumeRequest } from '../../services/settlement/settlements/store/consumptions.ts';
import { byteaText, tokenHash } from '../../shared/lib/packed-token.ts';
import { EPOCH, type Model, model, UniqueViolation } from './database.ts';
import type { Harness } from './harness.ts';
import type { Settlement } from './settlement-rows.ts';

/** A row of `consumptions`: what a request consumed, and the sum of its settlement then. */
type Consumption = {
  settlement_id: string;
  request_id: string;
  units: number;
  units_consumed: number;
  insertedAt: number;
};

/** A request as the statement binds it. */
type Input = Omit<ConsumeRequest, 'settlement_token'> & {
  token_hash: string;
  upto: number;
  in_all: number;
  requests: number;
};
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
  const { now, off, random } = harness;

  const isSame = (
    row: Consumption,
    { settlement_id, request_id }: Pick<Input, 'settlement_id' | 'request_id'>,
  ) => row.settlement_id === settlement_id && row.request_id === request_id;
  const isKnown = (input: Input, snapshot = now()): boolean =>
    off !== 'unique id of a consume' &&
    consumptions.some((row) => isSame(row, input) && row.insertedAt <= snapshot);

  /** The conditions on the locked row of the settlement. */
  const isOpen = (row: Settlement, { token_hash, in_all }: Input): boolean => {
    if (row.settlement_token === null || byteaText(tokenHash(row.settlement_token)) !== token_hash)
      return false;
    if (row.status !== 'issued' && row.status !== 'redeemed') return false;
    if (row.status === 'issued' && windowElapsed(row)) return false;
    if (row.chain_status !== 'confirmed' && row.chain_status !== 'finalized') return false;
    if (row.refund_reserved > 0n || row.units_total === null) return false;
    return off === 'units left of a consume' || row.units_consumed + in_all <= row.units_total;
  };

  /** @param isOfSeveral the form for several requests of one settlement */
  const consume = (isOfSeveral: boolean, { given, ...end }: Shown): unknown[] => {
    // Earlier requests are read from the snapshot of the statement, and the index decides last.
    const snapshot = now() - random.between(0, 30);
    const prepaid = (JSON.parse(given) as Input[])
      .filter((input) => isOpen(settlements.get(input.settlement_id)!, input))
      .filter((input) => !isOfSeveral || !isKnown(input, snapshot));
    const complete = prepaid.filter(
      ({ settlement_id: id, requests }) =>
        !isOfSeveral || prepaid.filter((other) => other.settlement_id === id).length === requests,
    );
    if (isOfSeveral && complete.some((input) => isKnown(input)))
      throw new UniqueViolation('consumptions_pkey');
    const inserted = complete.filter((input) => !isKnown(input));
    const before = new Map(
      inserted.map(({ settlement_id: id }) => [id, { ...settlements.get(id)! }] as const),
    );
    for (const { settlement_id, request_id, units, upto } of inserted) {
      const units_consumed = before.get(settlement_id)!.units_consumed + upto;
      consumptions.push({ settlement_id, request_id, units, units_consumed, insertedAt: now() });
      harness.trace('consumptions', `${settlement_id}: ${request_id} consumes ${units}`);
    }
    return inserted.map(({ settlement_id: id, request_id, units, upto, in_all }) => {
      const row = settlements.get(id)!;
      const was = before.get(id)!;
      const isFirst = upto === units;
      if (isFirst) {
        row.units_consumed = was.units_consumed + in_all;
        row.redeemed_at ??= EPOCH + now();
        move(row, 'consume');
      }
      const events = isFirst && was.status === 'issued' ? publishEnd(row, end) : [];
      return { ...row, request_id, units_consumed: was.units_consumed + upto, events };
    });
  };

  const models: Model[] = [
    model<Shown>(
      /^with prepaid as .*insert into consumptions .*\son conflict do nothing\s/s,
      'given ids subject prefix',
      (values) => consume(false, values),
    ),
    model<Shown>(
      /^with prepaid as .*earlier\.request_id = input\.request_id/s,
      'given ids subject prefix',
      (values) => consume(true, values),
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
