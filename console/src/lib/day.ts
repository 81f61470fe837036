/** The start of a day in the reader's time zone. Undefined if the text is not a day. */
export const beginOf = (day: string, plusDays = 0): string | undefined => {
  const [year, month, date] = day.split('-').map(Number);
  const at = new Date(year ?? Number.NaN, (month ?? 1) - 1, (date ?? 1) + plusDays);
  return /^\d{4}-\d\d-\d\d$/.test(day) && at.getFullYear() >= 1970 ? at.toISOString() : undefined;
};
