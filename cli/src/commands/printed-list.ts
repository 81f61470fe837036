import type { Command } from 'commander';
import { type Context, print } from '../context.ts';
import { UsageError } from '../errors.ts';
import { table } from '../text/text.ts';

const DEFAULT_COUNT = '20';

/** The newest items of a list, at most `--limit`. */
export const newest = async <T>(list: AsyncIterable<T>, limit: string): Promise<T[]> => {
  if (!/^[1-9]\d{0,3}$/.test(limit))
    throw new UsageError(`--limit: "${limit}" is not a number from 1 to 9999`);
  const items: T[] = [];
  for await (const item of list) {
    items.push(item);
    if (items.length >= Number(limit)) break;
  }
  return items;
};

export const withLimit = (command: Command) =>
  command.option('--limit <number>', 'show at most this many', DEFAULT_COUNT);

/** A list as a table, or as JSON. */
export const printList = <T>(
  context: Context,
  items: readonly T[],
  {
    empty,
    headings,
    row,
    right = [],
  }: {
    empty: string;
    headings: readonly string[];
    row: (item: T) => string[];
    right?: readonly number[];
  },
): void =>
  print(context, { data: items }, () =>
    items.length === 0 ? empty : table(headings, items.map(row), right),
  );
