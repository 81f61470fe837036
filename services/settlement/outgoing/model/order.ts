import type { z } from 'zod';
import { invalid } from '../../../../shared/contract/errors.ts';
import type {
  OutgoingChallenge,
  OutgoingRail,
  OutgoingRequirement,
  settlement,
} from '../../../../shared/contract/settlement.ts';
import type { Asked, OutgoingTerms } from './asked.ts';
import { readChallenge } from './challenge.ts';
import { readRequirement } from './requirement.ts';

type Input = z.infer<typeof settlement.operations.payExternal.body>;

/** What a vendor's 402 asks for, checked against this environment. */
export type OutgoingOrder = Asked & {
  rail: OutgoingRail;
  /** The version of x402. Null for MPP. */
  version: 1 | 2 | null;
  /** What the payment repeats to the vendor, with all its fields. */
  requirement: OutgoingRequirement | OutgoingChallenge;
  resource: string;
  /** Host and origin of the resource. */
  host: string;
  origin: string;
  /** When the offer of the vendor ends, epoch milliseconds. */
  expiresAt: number | null;
};

/**
 * Checks what a vendor asks for before anything is stored (docs/design/interop.md, section 6).
 * Fields that this system does not know are left as they are, because the payload repeats them.
 * @throws ServiceError validation_error
 */
export const readOrder = (input: Input, terms: OutgoingTerms): OutgoingOrder => {
  const { requirement, challenge, resource, x402_version } = input;
  const { host, origin } = new URL(resource);
  const at = { resource, host, origin };
  if (requirement !== undefined) {
    const version = x402_version ?? 2;
    const asked = readRequirement(requirement, version, terms);
    return { ...asked, ...at, rail: 'x402_out', version, requirement, expiresAt: null };
  }
  if (challenge === undefined) throw invalid('requirement', 'is missing, and so is challenge');
  if (x402_version !== undefined) throw invalid('x402_version', 'must be absent with a challenge');
  const expiresAt = challenge.expires === undefined ? null : Date.parse(challenge.expires);
  return {
    ...readChallenge(challenge, terms),
    ...at,
    rail: 'mpp_out',
    version: null,
    requirement: challenge,
    expiresAt,
  };
};
