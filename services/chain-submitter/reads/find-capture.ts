import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { feeMicro } from '../../../shared/lib/money/fee.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { readToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import { listSignaturesUnder, readAllBalanceChanges } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { settleIntentId } from '../ledger/intent-id.ts';
import type { Network } from '../ledger/model/network.ts';
import { capturedOf } from '../ledger/model/payment.ts';
import { referenceOf } from '../ledger/reference.ts';
import { captureAmountOf, quoteHashOf } from '../ledger/store/final-request.ts';
import { findIntent } from '../ledger/store/intents.ts';

/**
 * The amount of the capture that this service has accepted for an attempt: it is on the chain, or
 * may still come. Null: no job came for it, or it has failed.
 */
const ownCapture = async (
  pool: Pool,
  attempt: { account_id: string; payment_attempt_id: string; quote_token: string },
): Promise<string | null> => {
  const intent = await findIntent(pool, settleIntentId(attempt));
  if (intent === null || intent.status === 'failed') return null;
  if (quoteHashOf(intent.request) !== quoteHashOf(attempt)) return null;
  return captureAmountOf(intent.request) ?? null;
};

/**
 * Finds the capture of a quote with a ceiling: one that this service is carrying out, or else one
 * on the chain, whether or not it is recorded here. The amount of a capture is not in the quote. So
 * only a transaction counts that the platform has signed: a payer could put a smaller one of its
 * own under the reference.
 */
export const findCapture =
  ({
    rpc,
    network,
    environment,
    keys,
    pool,
  }: {
    pool: Pool;
    rpc: RpcPool;
    network: Network;
    environment: string;
    keys: PublicKeys;
  }): Handler<typeof chainSubmitter.internal.findCapture> =>
  async ({ quote_token, owner, ...attempt }) => {
    const claims = readToken('quote', quote_token, { env: environment, keys }).claimsFor('followUp');
    if (claims.capture === undefined) throw conflict('the quote has no ceiling');
    const own = await ownCapture(pool, { ...attempt, quote_token });
    if (own !== null) return { amount: own };
    const { bps, min } = claims.capture.fee;
    const rule = { bps: BigInt(bps), minMicro: parseMicro(min) };
    const sought = {
      source: tokenAccountOf(owner, network.mint),
      payoutAccount: tokenAccountOf(claims.payout_address, network.mint),
      feeOf: (grossMicro: bigint) => feeMicro(grossMicro, rule),
    };
    const search = {
      reference: referenceOf(environment, claims.quote_id),
      since: Date.parse(claims.issued_at),
    };
    for (const signature of await readForCaller(listSignaturesUnder(rpc, search, { everywhere: true }))) {
      // From all providers, so that no single one can deny it.
      for (const changes of await readForCaller(readAllBalanceChanges(rpc, signature))) {
        const amountMicro = capturedOf(changes, sought, network);
        if (amountMicro !== null) return { amount: formatMicro(amountMicro) };
      }
    }
    return { amount: null };
  };
