import type { Environment } from '../../shared/contract/primitives.ts';
import type { FeeRule } from '../../shared/lib/money/fee.ts';
import type { SigningKey } from '../../shared/lib/tokens/keys.ts';

/** The terms of every quote. */
export type Terms = {
  environment: Environment;
  mint: string;
  fee: FeeRule;
  signingKey: SigningKey;
  cursorKeys: readonly Buffer[];
  publicUrl: string;
};
