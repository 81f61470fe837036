import { Resolver } from 'node:dns/promises';
import type { DOMAIN_PROBLEMS } from '../../../shared/contract/identity/services.ts';

/**
 * The proof of a domain: a TXT record of its DNS names the service (docs/adr/0083). Only name
 * servers of the operator are asked, so a claim reaches no address that its vendor chooses.
 */

/** What a check found instead of the proof. */
type DomainProblem = (typeof DOMAIN_PROBLEMS)[number];
/** The domain of a service, in ASCII. */
type Claim = { service_id: string; domain: string };
/** Looks for a proof. Null: it is there. */
export type DomainProof = (claim: Claim) => Promise<DomainProblem | null>;

/** The record by which the owner of a domain names the service. */
export const domainRecord = ({ domain, service_id }: Claim) => ({
  type: 'TXT' as const,
  name: `_quittance.${domain}`,
  value: `quittance-service=${service_id}`,
});

/** The codes of an answer that says that there is no such record. Any other is no answer. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** @param servers addresses with an optional port; null: those of this machine */
export const createDomainProof = (servers: readonly string[] | null): DomainProof => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers !== null) resolver.setServers([...servers]);
  return async (claim) => {
    const { name, value } = domainRecord(claim);
    try {
      const records = await resolver.resolveTxt(name);
      // A long value comes in parts.
      return records.some((parts) => parts.join('').trim() === value) ? null : 'record_differs';
    } catch (error) {
      return ABSENT.has((error as NodeJS.ErrnoException).code) ? 'record_missing' : 'no_answer';
    }
  };
};
