import { z } from 'zod';
import { AccountId, EndpointId, Timestamp } from '../primitives.ts';

/** The events of webhook. */
export const events = {
  /** An endpoint gets nothing any more, and its owner did not turn it off. */
  endpointDisabled: z.strictObject({
    account_id: AccountId,
    endpoint_id: EndpointId,
    /** Of its URL, which may have a secret in its path. */
    host: z.string().max(256),
    reason: z.enum(['failing', 'gone']),
    at: Timestamp,
  }),
};
