import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { contractList } from '../../../shared/contract/index.ts';
import type { Limit } from '../../../shared/contract/service.ts';

const points = z.int().min(1).max(1_000_000);
const factor = z.number().min(1).max(100_000);
const OPERATIONS: ReadonlyMap<string, readonly Limit[]> = new Map(
  contractList.flatMap(({ name, operations }) =>
    Object.entries(operations).map(([op, { limits }]) => [`${name}.${op}`, limits]),
  ),
);

const subjectOf = ({ per }: Pick<Limit, 'per'>): string =>
  typeof per === 'string' ? `'${per}'` : `the field '${per.field}'`;

/**
 * Refuses a list that counts by less than the contract does. A public operation whose calls are not
 * counted by address could be called without limit, with another account or field value each time.
 */
const keepsSubjects = (
  entries: Record<string, readonly Pick<Limit, 'per'>[]>,
  context: z.RefinementCtx,
): void => {
  for (const [name, limits] of Object.entries(entries)) {
    const kept = new Set(limits.map(subjectOf));
    const lost = (OPERATIONS.get(name) ?? []).map(subjectOf).filter((subject) => !kept.has(subject));
    if (lost.length > 0)
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `has no limit per ${lost.join(' and per ')}, as the contract has; raise it instead of removing it`,
      });
  }
};

/**
 * What a deployment may change about the limits of the contract. No entry can switch a limit off.
 * The limits of a single account are changed by `npm run ops -- limits` (docs/operations.md).
 */
const Overrides = z.strictObject({
  /** Multiplies the points of every limit. */
  scale: factor.default(1),
  /**
   * Replaces the limits of the operations it names. Each list has a limit for every subject by
   * which the contract counts: account, address, field of the body.
   */
  operations: z
    .record(
      z.string().refine((name) => OPERATIONS.has(name), 'no such operation'),
      z
        .array(
          z.strictObject({
            points,
            windowSeconds: z.int().min(1).max(86_400),
            per: z.union([z.enum(['account', 'ip']), z.strictObject({ field: z.string() })]),
          }),
        )
        .min(1),
    )
    .superRefine(keepsSubjects)
    .default({}),
});
export type LimitOverrides = z.infer<typeof Overrides>;

/**
 * Path of a JSON file, read at the start. Without it the limits of the contract apply. For a zod
 * config schema.
 */
export const LimitsFile = z
  .string()
  .optional()
  .transform((path, context): unknown => {
    if (path === undefined || path === '') return {};
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch {
      context.addIssue({ code: 'custom', message: 'must be the path of a readable JSON file' });
      return z.NEVER;
    }
  })
  .pipe(Overrides);
