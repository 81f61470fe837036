/** Durations as text. */

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/**
 * 900 → "15 min", 90061 → "1 d 1 h": the two largest units, rounded down. Below a second: "0 s".
 */
export const formatDuration = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const first = UNITS.findIndex(([size]) => whole >= size);
  if (first === -1) return '0 s';
  let rest = whole;
  return UNITS.slice(first, first + 2)
    .map(([size, name]) => {
      const count = Math.floor(rest / size);
      rest %= size;
      return [count, name] as const;
    })
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(' ');
};

/** Parses a typed whole number within bounds, or returns null. */
export const parseWhole = (typed: string, min: number, max: number): number | null => {
  const text = typed.trim().replaceAll(',', '');
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
};
