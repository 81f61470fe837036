/** A number above is a time in milliseconds. Times are compared to the millisecond. */
const TIMES_ABOVE = 1.7e12;

export type Row = Record<string, unknown>;

const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';
const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isSameNumber = (a: number | bigint, b: number | bigint): boolean => {
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same value
  if (a == b) return true;
  return Number(a) > TIMES_ABOVE && Math.abs(Number(a) - Number(b)) <= 1;
};

/**
 * What a list is ordered by, if its statement does not order it: everything that both sides have.
 */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, one: unknown) => {
    if (LEFT_OUT.has(key)) return undefined;
    if (isBytes(one)) return Buffer.from(one).toString('base64').slice(0, 20);
    if (isNumeric(one)) return Number(one) > TIMES_ABOVE ? 'time' : String(one);
    return isRecord(one) && !Array.isArray(one) && !isBytes(one)
      ? Object.fromEntries(Object.entries(one).sort())
      : one;
  });

/** The ids of the outbox follow from a sequence, which a statement without a message may use up. */
const LEFT_OUT = new Set(['outbox_id']);

/** Only the columns that the other side has, so that both are ordered by the same. */
const reduced = (row: unknown, to: unknown): unknown =>
  isRecord(row) && isRecord(to) ? Object.fromEntries(Object.keys(to).map((key) => [key, row[key]])) : row;

/**
 * The first place in which the result of a model differs from that of its statement; null: none.
 * The statement decides which columns there are, because a model has whole rows.
 */
export const differenceOf = (modelled: unknown, actual: unknown, at = ''): string | null => {
  const differs = () => `${at || 'it'}: the model has ${textOf(modelled)}, Postgres ${textOf(actual)}`;
  if (isNumeric(modelled) && isNumeric(actual)) return isSameNumber(modelled, actual) ? null : differs();
  if (isBytes(modelled) && isBytes(actual))
    return Buffer.from(modelled).equals(Buffer.from(actual)) ? null : differs();
  if (!isRecord(actual) || !isRecord(modelled)) return modelled === actual ? null : differs();
  if (Array.isArray(actual) !== Array.isArray(modelled)) return differs();
  if (Array.isArray(actual) && Array.isArray(modelled)) {
    if (actual.length !== modelled.length) return differs();
    return firstOf(actual.map((one, place) => differenceOf(modelled[place], one, `${at}[${place}]`)));
  }
  // A statement completes the payload of some events from the row. The model has what a run reads.
  const names = Object.keys(at.endsWith('.payload') ? modelled : actual);
  return firstOf(
    names
      .filter((key) => !LEFT_OUT.has(key) && !(key === 'payload' && modelled[key] === null))
      .map((key) => differenceOf(modelled[key], actual[key], `${at}.${key}`)),
  );
};

const firstOf = (found: readonly (string | null)[]): string | null =>
  found.find((one) => one !== null) ?? null;

/**
 * A statement has one row of the outbox for several events of a subject, as a list. The models have
 * a row for each.
 */
const eachMessage = (rows: readonly Row[]): Row[] =>
  rows.flatMap(({ subject, payload }) =>
    (Array.isArray(payload) ? payload.map((one: Row) => one.payload) : [payload]).map((one) => ({
      subject,
      payload: one,
    })),
  );
/** Whether rows are those of the outbox. */
const isOutbox = (rows: readonly unknown[]): rows is readonly Row[] =>
  rows.length > 0 && rows.every((row) => isRecord(row) && 'outbox_id' in row && 'payload' in row);

type WithSent = { outbox?: readonly { positions?: readonly number[] }[] };
const sentWith = (row: unknown): readonly number[] =>
  ((row as WithSent).outbox ?? []).flatMap(({ positions }) => positions ?? []);
/** For the same reason the positions of a list stand in the first of its rows. */
const positionsIn = (rows: readonly unknown[]): number[] => rows.flatMap(sentWith).sort((a, b) => a - b);
const withoutPositions = (rows: readonly unknown[]) => rows.map((row) => ({ ...(row as Row), outbox: null }));

/** The same for rows in no order. */
export const differenceOfSets = (modelled: readonly unknown[], actual: readonly unknown[]): string | null => {
  if (isOutbox(actual) && isOutbox(modelled))
    return differenceOfRows(eachMessage(modelled), eachMessage(actual));
  const sent = [modelled, actual].map((rows) => positionsIn(rows).join());
  if (sent[1] === '') return differenceOfRows(modelled, actual);
  const difference = differenceOfRows(withoutPositions(modelled), withoutPositions(actual));
  if (difference !== null || sent[0] === sent[1]) return difference;
  return `the model sends the messages ${sent[0]}, Postgres ${sent[1]}`;
};

const differenceOfRows = (modelled: readonly unknown[], actual: readonly unknown[]): string | null => {
  if (modelled.length !== actual.length)
    return `the model has ${modelled.length} rows, Postgres ${actual.length}: ${textOf(modelled)}, ${textOf(actual)}`;
  const sorted = (rows: readonly unknown[]) => [...rows].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const own = modelled.map((row) => reduced(row, actual[0]));
  return differenceOf(sorted(own), sorted(actual));
};
