import bs58 from 'bs58';
import type { Outbox } from '../../../shared/events/relay.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { unknownOnError } from '../chain/read-for-caller.ts';
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
import { decodeAnyMessage, readEnvelope } from '../transactions/message.ts';
import type { IncomingRequest } from '../transactions/parse-order.ts';

export type LostDeps = MessageDeps & { relay: Outbox; workerId: string };

/** The transfers of a message. The other instructions of a payment are budget and memos. */
const transfersOf = (message: Uint8Array) =>
  decodeAnyMessage(message).instructions.flatMap((instruction) => {
    if (instruction.program !== PROGRAMS.token) return [];
    const known = readInstruction(instruction);
    return known.name === 'transferChecked' ? [known] : [];
  });

type Lost = { source: string; settlementId: string; accountId: string };
type Transfers = Pick<IncomingRequest, 'authority' | 'source_account' | 'legs' | 'by_outcome'>;

/** What the bytes do. The platform has signed them, so that they satisfied the policy then. */
const readTransfers = (message: Uint8Array, { source }: Lost): Transfers | null => {
  try {
    const legs = transfersOf(message).map(({ destination, amountMicro }) => ({
      token_account: destination,
      amount: formatMicro(amountMicro),
    }));
    const authority = readEnvelope(message).signers[1]!;
    return legs.length === 0 ? null : { authority, source_account: source, legs };
  } catch {
    return null;
  }
};

/** What a transaction did whose bytes do not show it: of a smart wallet, or with lookup tables. */
const readMovements = async ({ rpc }: LostDeps, signature: string): Promise<Transfers | null> => {
  const moved = await unknownOnError(rpc.first((provider) => provider.movements(signature)));
  const [payer] = moved?.filter(({ deltaMicro }) => deltaMicro < 0n) ?? [];
  if (!moved || !payer?.owner) return null;
  return {
    authority: payer.owner,
    source_account: payer.address,
    legs: moved
      .filter(({ deltaMicro }) => deltaMicro > 0n)
      .map(({ address, deltaMicro }) => ({ token_account: address, amount: formatMicro(deltaMicro) })),
    by_outcome: true,
  };
};

const requestOf = async (
  deps: LostDeps,
  { message, signature }: IncludedTransaction,
  lost: Lost,
): Promise<IncomingRequest | null> => {
  const transfers = readTransfers(message, lost) ?? (await readMovements(deps, signature));
  return (
    transfers && {
      settlement_id: lost.settlementId,
      account_id: lost.accountId,
      ...transfers,
      amount: formatMicro(transfers.legs.reduce((sum, { amount }) => sum + parseMicro(amount), 0n)),
    }
  );
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
  const request = await requestOf(deps, included, { source: lost.source, settlementId, accountId });
  if (request === null) return false;
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

/**
 * The account in whose history a message is searched: the token account that it pays from, or the
 * buyer that signed it, if the bytes do not show that account. Null for bytes that are no message.
 */
export const searchedOf = (message: Uint8Array): string | null => {
  try {
    const { signers, tables } = readEnvelope(message);
    const source = tables.size > 0 ? undefined : transfersOf(message)[0]?.source;
    return source ?? signers[1] ?? null;
  } catch {
    // The policy refuses a message that cannot be read, so that none was signed.
    return null;
  }
};
