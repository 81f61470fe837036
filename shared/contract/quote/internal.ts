import { z } from 'zod';
import { operatorOperations } from '../operator.ts';
import { ServiceId, Timestamp } from '../primitives.ts';
import { internalOperation } from '../service.ts';

/**
 * The activity that prevents the deletion of a service. `ends_at` is null if there was never any.
 */
export const Activity = z.strictObject({ open: z.boolean(), ends_at: Timestamp.nullable() });

/** The internal operations of quote. */
export const internal = {
  ...operatorOperations,
  getQuoteActivity: internalOperation({
    summary: 'Whether quotes of a service can still be paid, and when the last one ends',
    callers: ['identity'],
    input: z.strictObject({ service_id: ServiceId }),
    output: Activity,
  }),
};
