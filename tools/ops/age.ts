const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** A time span for people: `4 s`, `7 min`, `3 h`, `2 d`. */
export const spanText = (seconds: number): string => {
  const [unit, length] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))} ${unit}`;
};

/** How long ago a time is, by this machine's clock. Null: a dash. */
export const ageText = (at: string | null, now = Date.now()): string =>
  at === null ? '–' : spanText((now - Date.parse(at)) / 1000);
