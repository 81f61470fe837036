/**
 * Accept-Payment of MPP: which payment methods and intents a client uses, weighted as in Accept.
 * Both sides read it: a paywall to choose its challenges, a buyer to respect its caller.
 */

export const ACCEPT_PAYMENT_HEADER = 'accept-payment';

/** What a challenge asks for, for instance `solana` and `charge`. */
export type PaymentKind = { method: string; intent: string };

type Range = PaymentKind & { weight: number };

const RANGE = /^([a-z]+|\*)\/([A-Za-z0-9-]+|\*)(?:[ \t]*;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/** The ranges of a header. Null: there is none, or it is malformed, which is no preference. */
const rangesIn = (header: string | null): Range[] | null => {
  const parts = (header ?? '').split(',').flatMap((part) => part.trim() || []);
  const ranges = parts.map((part): Range | null => {
    const [, method, intent, weight = '1'] = RANGE.exec(part) ?? [];
    return method === undefined ? null : { method, intent: intent!, weight: Number(weight) };
  });
  return ranges.length === 0 || ranges.includes(null) ? null : (ranges as Range[]);
};

const preciseness = ({ method, intent }: Range): number => Number(method !== '*') + Number(intent !== '*');

/** The weight of the most precise range, of several the highest. No range: 0. */
const weightOf = (ranges: readonly Range[], { method, intent }: PaymentKind): number => {
  const matching = ranges
    .filter((range) => [method, '*'].includes(range.method) && [intent, '*'].includes(range.intent))
    .sort((one, other) => preciseness(other) - preciseness(one) || other.weight - one.weight);
  return matching[0]?.weight ?? 0;
};

/** Whether a client that sends this header uses such payments. Without one it uses all. */
export const acceptsPayment = (header: string | null, kind: PaymentKind): boolean => {
  const ranges = rangesIn(header);
  return ranges === null || weightOf(ranges, kind) > 0;
};

/**
 * The offered payments that a client accepts, those that it prefers first. All of them if it
 * accepts none, because a 402 must have a challenge.
 */
export const acceptedOf = <Kind extends PaymentKind>(
  header: string | null,
  offered: readonly Kind[],
): readonly Kind[] => {
  const ranges = rangesIn(header);
  if (ranges === null) return offered;
  const accepted = offered
    .map((kind) => ({ kind, weight: weightOf(ranges, kind) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ kind }) => kind);
  return accepted.length === 0 ? offered : accepted;
};
