import type { settle } from '../../services/chain-submitter/execution/settle.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import { signToken, storedClaims } from '../../shared/lib/tokens/compact-token.ts';
import { actors } from './actors.ts';

/** The job that pays a quote. */
export type SettleJob = Parameters<ReturnType<typeof settle>>[0];

/** Numbers of quotes that no other program has. */
const COUNTED_AGAIN = 4900;

/** A mutation: a quote that the job names twice counts twice, as if it were another one. */
export const countedAgain = (job: SettleJob): SettleJob => {
  const seen = new Set<string>();
  const extension_tokens = job.extension_tokens?.map((token, index) => {
    if (!seen.has(token)) {
      seen.add(token);
      return token;
    }
    const claims: QuoteClaims = storedClaims(token);
    const quote_id = actors.quoteId(COUNTED_AGAIN + index);
    return signToken('quote', { ...claims, quote_id }, actors.quoteKey);
  });
  return extension_tokens === undefined ? job : { ...job, extension_tokens };
};
