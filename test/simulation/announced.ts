import type { Progress } from '../../shared/contract/chain-submitter.ts';
import type { Harness } from './harness.ts';

/**
 * The payments that chain-submitter has announced to settlement as confirmed, and since then not as
 * reopened or failed.
 */
export const createAnnounced = (harness: Harness) => {
  const confirmed = new Map<string, number>();
  const messages = new Set<string>();
  return {
    /** An event that is committed or stored by the bus. A repeat says nothing new. */
    note: (messageId: string, { object_id: id, status, generation }: Progress): void => {
      if (messages.has(messageId)) return;
      messages.add(messageId);
      if (status === 'confirmed') confirmed.set(id, generation);
      else if (status !== 'signed') confirmed.delete(id);
    },
    /** Bytes of a payment are signed. Those of the confirmed generation may be sent again. */
    checkSigned: (id: string, generation: number): void => {
      const known = confirmed.get(id);
      if (known === undefined || known >= generation) return;
      harness.fail('a payment is reopened before it is signed again', `${id}: ${known}, then ${generation}`);
    },
    /** A restore has lost the record of a payment, so nothing of it is known to the service. */
    forget: (id: string): void => {
      confirmed.delete(id);
    },
  };
};
export type Announced = ReturnType<typeof createAnnounced>;
