import type { Environment } from '../../shared/contract/primitives.ts';
import type { FeeRule } from '../../shared/lib/money/fee.ts';
import type { SigningKey } from '../../shared/lib/tokens/keys.ts';
import type { DomainProof } from './domains/proof.ts';

/** The settings that handlers take. */
export type Terms = {
  environment: Environment;
  signingKey: SigningKey;
  identitySecrets: readonly Buffer[];
  cursorKeys: readonly Buffer[];
  consoleUrl: string;
  /** The relying party of passkeys. */
  rp: {
    id: string;
    name: string;
    /** Exact origins of the pages that may use passkeys. */
    origins: readonly string[];
  };
  fee: FeeRule;
  /** Looks for the proof of a service's domain. */
  proveDomain: DomainProof;
  erasureDays: number;
  /** The delay of a changed payout address (docs/spec/decisions.md, Sign-in). */
  payoutDelayHours: number;
};
