import { z } from 'zod';
import { operatorOperations } from '../operator.ts';
import { internalOperation } from '../service.ts';
import { Moved } from './moved.ts';

/** Maximum number of transfers of one call of listMoved. */
export const MAX_MOVED_LISTED = 500;

/** The internal operations of funding. */
export const internal = {
  ...operatorOperations,
  listMoved: internalOperation({
    summary:
      'Every transfer that was ever confirmed, with its current state, in the order of object_id. For rebuilding a projection.',
    callers: ['wallet'],
    input: z.strictObject({
      after: z.string().max(64).nullable(),
      limit: z.int().min(1).max(MAX_MOVED_LISTED),
    }),
    output: z.array(Moved),
  }),
};
