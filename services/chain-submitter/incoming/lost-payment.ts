import bs58 from 'bs58';
import type { Outbox } from '../../../shared/events/relay.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { assemble } from '../../../shared/lib/wire-transaction.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import { commitSigned } from '../ledger/store/commit-signed.ts';
import {
  type LostMessage,
  type LostDeps as MessageDeps,
  readLastValidOfLost,
  readLostMessage,
  reportAdopted,
} from '../payments/lost-message.ts';
import { readInstruction } from '../transactions/decode.ts';
import { decodeAnyMessage } from '../transactions/message.ts';
import type { IncomingRequest } from '../transactions/parse-order.ts';

export type LostDeps = MessageDeps & { relay: Outbox; workerId: string };

/** The transfers of a message. The other instructions of a payment are budget and memos. */
const transfersOf = (message: Uint8Array) =>
  decodeAnyMessage(message).instructions.flatMap((instruction) => {
    if (instruction.program !== PROGRAMS.token) return [];
    const known = readInstruction(instruction);
    return known.name === 'transferChecked' ? [known] : [];
  });

/** What the bytes do. The platform has signed them, so that they satisfied the policy then. */
const requestOf = (
  { message }: IncludedTransaction,
  { source, settlementId, accountId }: { source: string; settlementId: string; accountId: string },
): IncomingRequest => {
  const { signers } = decodeAnyMessage(message);
  const legs = transfersOf(message);
  return {
    settlement_id: settlementId,
    account_id: accountId,
    authority: signers[1]!,
    source_account: source,
    legs: legs.map(({ destination, amountMicro }) => ({
      token_account: destination,
      amount: formatMicro(amountMicro),
    })),
    amount: formatMicro(legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n)),
  };
};

/**
 * Records the payment of a message that is on the chain, if a restore has lost its record. Limits
 * do not apply, because it was made.
 * @returns whether the message has an intent now
 * @throws ServiceError service_unavailable when the chain cannot be searched
 */
export const adoptLost = async (
  deps: LostDeps,
  { settlementId, accountId }: { settlementId: string; accountId: string },
  lost: LostMessage,
): Promise<boolean> => {
  const { pool, relay, workerId } = deps;
  const included = await readLostMessage(deps, lost);
  if (included === null) return false;
  const { signature } = included;
  const lastValidBlockHeight = await readLastValidOfLost(deps);
  const intentId = incomingIntentId(lost.messageHash);
  const traceparent = activeTraceparent();
  const request = requestOf(included, { source: lost.source, settlementId, accountId });
  const intent = {
    intent_id: intentId,
    kind: 'incoming',
    object_id: settlementId,
    request,
    traceparent,
  } as const;
  const signed = {
    generation: 1,
    signature,
    wire: assemble(included.message, [bs58.decode(signature), included.signatureAt(1)]),
    lastValidBlockHeight,
    creates: null,
    signBefore: null,
  };
  const adopted = { intent, isNew: true, signed, message: null, claim: null };
  const [committed] = await commitSigned(pool, [adopted], workerId);
  // Another call may have adopted it meanwhile.
  if (typeof committed !== 'string') relay.dispatch(committed!);
  const log = { intent: intentId, settlement_id: settlementId, signature };
  reportAdopted(deps, 'lost payment of another client', log);
  return true;
};

/** The token account that a message pays from; null for one that pays nothing. */
export const sourceOf = (message: Uint8Array): string | null => {
  try {
    return transfersOf(message)[0]?.source ?? null;
  } catch {
    // The policy refuses a message that cannot be read, so that none was signed.
    return null;
  }
};
