import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { contractList } from '../../../shared/contract/index.ts';

const points = z.int().min(1).max(1_000_000);
const factor = z.number().min(1).max(100_000);
const OPERATIONS = new Set(
  contractList.flatMap(({ name, operations }) => Object.keys(operations).map((op) => `${name}.${op}`)),
);

/**
 * What a deployment may change about the limits of the contract. No entry can switch a limit off.
 * The limits of a single account are changed by `npm run ops -- limits` (docs/operations.md).
 */
const Overrides = z.strictObject({
  /** Multiplies the points of every limit. */
  scale: factor.default(1),
  /** Replaces the limits of the operations it names. */
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
