import { z } from 'zod';
import { SecurityNote } from '../identity/security-note.ts';
import { AccountId, EndpointId, Timestamp } from '../primitives.ts';

/** The events of webhook. */
export const events = {
  /** The service has disabled an endpoint; its owner has not. */
  endpointDisabled: z.strictObject({
    account_id: AccountId,
    endpoint_id: EndpointId,
    /** The host only, because the path of the URL may contain a secret. */
    host: z.string().max(256),
    reason: z.enum(['failing', 'gone']),
    at: Timestamp,
  }),
  /** Something that the owner of an account should recognise. */
  securityNoted: SecurityNote,
};
