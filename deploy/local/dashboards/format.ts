const PREFIXES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** At most three significant digits, without zeros at the end. */
const digits = (value: number): string => String(Number(value.toPrecision(3)));

const short = (value: number): string => {
  const prefix = PREFIXES.find(([size]) => Math.abs(value) >= size);
  return prefix === undefined ? digits(value) : `${digits(value / prefix[0])} ${prefix[1]}`;
};

const seconds = (value: number): string => {
  if (value === 0) return '0 s';
  if (value < 1) return `${digits(value * 1000)} ms`;
  if (value < 120) return `${digits(value)} s`;
  return value < 7200 ? `${digits(value / 60)} min` : `${digits(value / 3600)} h`;
};

/** A value in the unit of its panel, as a person reads it. */
export const formatValue = (value: number | null | undefined, unit: string): string => {
  if (value === null || value === undefined) return '–';
  if (unit === 's') return seconds(value);
  if (unit === 'percentunit') return `${digits(value * 100)} %`;
  if (unit === 'reqps') return `${short(value)}/s`;
  if (unit === 'bool') return value > 0 ? 'yes' : 'no';
  if (unit === 'micro_usdc') return `${short(value / 1e6)} USDC`;
  return unit === 'sol' ? `${short(value)} SOL` : short(value);
};
