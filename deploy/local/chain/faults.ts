import { z } from 'zod';

const LIES: Record<string, (result: unknown) => unknown> = {
  getSignatureStatuses: (result) => {
    const { context, value } = result as { context: unknown; value: unknown[] };
    return { context, value: value.map(() => null) };
  },
  getTransaction: () => null,
  getBlock: () => null,
};

/** One entry of `chain_fault`. */
export const fault = z
  .strictObject({
    /** The method with the fault. `*` stands for every method except the control methods. */
    method: z.string().min(1),
    kind: z.enum([
      'drop',
      'delay',
      'duplicate',
      'timeout_after_accept',
      'drop_after_accept',
      'lie_null',
      'swap',
    ]),
    /**
     * The number of affected calls. Without it the fault lasts until it is cleared or `for_ms` has
     * passed.
     */
    count: z.number().int().positive().optional(),
    /** For `delay`: how long each call waits. For the others: how long the fault lasts. */
    ms: z.number().int().nonnegative().optional(),
    /** How long the fault lasts, for `delay` too. */
    for_ms: z.number().int().positive().optional(),
  })
  .refine(({ kind, ms }) => kind !== 'delay' || ms !== undefined, { message: 'delay requires ms' })
  .refine(({ kind, method }) => kind !== 'duplicate' || method === 'sendTransaction', {
    message: 'duplicate applies to sendTransaction only',
  })
  .refine(({ kind, method }) => kind !== 'lie_null' || method in LIES, {
    message: `lie_null applies to ${Object.keys(LIES).join(', ')} only`,
  });
type Fault = z.output<typeof fault>;

export type Faults = ReturnType<typeof createFaults>;

/** The active faults. If several match a method, the first added one applies. */
export const createFaults = (now: () => number = Date.now) => {
  let active: { fault: Fault; left: number; until: number }[] = [];

  const current = () => {
    active = active.filter(({ left, until }) => left > 0 && now() < until);
    return active;
  };

  return {
    add: (added: Fault): void => {
      const lasts = added.for_ms ?? (added.kind === 'delay' ? undefined : added.ms);
      const until = lasts === undefined ? Number.POSITIVE_INFINITY : now() + lasts;
      active.push({ fault: added, left: added.count ?? Number.POSITIVE_INFINITY, until });
    },
    clear: (): void => {
      active = [];
    },
    list: () =>
      current().map(({ fault: { method, kind }, left }) => ({
        method,
        kind,
        left: Number.isFinite(left) ? left : null,
      })),

    /** The fault that applies to this call, if any. It counts as one of the fault's calls. */
    take: (method: string): Fault | undefined => {
      if (active.length === 0) return undefined;
      const met = current().find(({ fault: one }) => one.method === method || one.method === '*');
      if (met) met.left -= 1;
      return met?.fault;
    },

    /** The result that `lie_null` returns instead. */
    lie: (method: string, result: unknown): unknown => LIES[method]?.(result) ?? null,
  };
};
