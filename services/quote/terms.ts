import type { Environment } from '../../shared/contract/primitives.ts';
import type { FeeRule } from '../../shared/lib/fee.ts';
import type { SigningKey } from '../../shared/lib/keys.ts';

/** The terms of every quote. */
export type Terms = {
  environment: Environment;
  mint: string;
  fee: FeeRule;
  signingKey: SigningKey;
  cursorKeys: readonly Buffer[];
  publicUrl: string;
};
