import type { SignatureStatus } from '../broadcast/model/agreement.ts';

/** A provider's status of a transaction, for an operator. */
export const statusText = (status: SignatureStatus): string =>
  status === null
    ? 'unknown'
    : `${status.err === null ? '' : 'failed, '}${status.confirmationStatus ?? 'processed'}`;
