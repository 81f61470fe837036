/**
 * A time in UTC as ISO 8601 allows it: `Z` or an offset of zero, any fraction, seconds optional. In
 * a query a `+` that is not encoded arrives as a space.
 */
export const UTC_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,30}))?)?(?:[Zz]|[+\- ]00(?::?00)?)$/;

/**
 * Epoch milliseconds of a time in UTC. What is finer than a millisecond is cut off.
 * @returns NaN for another text, and for a time that does not exist
 */
export const parseUtcTime = (text: string): number => {
  const [, date, minutes, seconds = '00', fraction = ''] = UTC_TIME.exec(text) ?? [];
  if (date === undefined) return Number.NaN;
  const time = Date.parse(`${date}T${minutes}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  // The 30th of February parses to another day.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) ? time : Number.NaN;
};
