import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../shared/contract/examples.ts';
import { resolved } from './openapi-references.ts';

/** How two API documents differ for a reader who resolves their references. */

type Difference = { place: string; before: unknown; after: unknown };

const isBranch = (node: unknown): node is Json => typeof node === 'object' && node !== null;

const differencesOf = (before: unknown, after: unknown, place: string): Difference[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && place.endsWith('/required')) {
    return isDeepStrictEqual(before.toSorted(), after.toSorted()) ? [] : [{ place, before, after }];
  }
  if (!isBranch(before) || !isBranch(after)) return [{ place, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differencesOf(before[key], after[key], `${place}/${key}`));
};

/**
 * Every place where one document promises something else than the other. Names of components are
 * not compared, but what refers to them is.
 */
export const differences = (before: Json, after: Json): Difference[] =>
  differencesOf(resolved(before), resolved(after), '');
