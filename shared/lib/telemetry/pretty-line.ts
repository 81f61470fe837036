/**
 * Log lines for people: LOG_FORMAT=pretty, and `npm run ops -- request show`. Programs read the
 * JSON lines.
 */

const LEVELS: Record<number, readonly [name: string, colour: number]> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 90],
  30: ['INFO', 32],
  40: ['WARN', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 35],
};
const DIM = 2;
const BOLD = 1;

/** Fields with a place of their own, and those of the process, which nobody reads in each line. */
const OWN_PLACE = new Set(['level', 'time', 'service', 'version', 'msg', 'err', 'pid', 'hostname']);

/** Control characters of a value could change what a terminal shows. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '·');

const valueText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return printable(/\s/.test(text) && typeof value === 'string' ? JSON.stringify(text) : text);
};

const errorText = (err: unknown): string => {
  const { message, stack } = (err ?? {}) as { message?: unknown; stack?: unknown };
  const text = typeof stack === 'string' ? stack : typeof message === 'string' ? message : valueText(err);
  const lines = text.split('\n').map((line) => `\n    ${printable(line)}`);
  return lines.join('');
};

const parse = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

/**
 * One readable line (time in UTC, level, service, message, then the other fields), and the stack of
 * an error below it. A text that is not a JSON object is returned as it is.
 * @param text a JSON line, with or without its line break
 * @param colour whether the output is a terminal that shows colours
 */
export const prettyLine = (text: string, { colour }: { colour: boolean }): string => {
  const line = parse(text);
  if (line === null) return text.trimEnd();
  const paint = (code: number, part: string) => (colour ? `\u001b[${code}m${part}\u001b[0m` : part);
  const [level, levelColour] = LEVELS[Number(line.level)] ?? [String(line.level ?? ''), DIM];
  const time = new Date(Number(line.time));
  const fields = Object.entries(line)
    .filter(([name, value]) => !OWN_PLACE.has(name) && value !== null)
    .map(([name, value]) => `${paint(DIM, `${name}=`)}${valueText(value)}`);
  return [
    paint(DIM, Number.isNaN(time.valueOf()) ? '' : time.toISOString().slice(11, 23)),
    paint(levelColour, level.padEnd(5)),
    printable(String(line.service ?? '')),
    paint(BOLD, printable(String(line.msg ?? ''))),
    ...fields,
  ]
    .filter((part) => part !== '')
    .join(' ')
    .concat(line.err === undefined ? '' : errorText(line.err));
};
