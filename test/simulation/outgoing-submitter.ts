import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { Intent, Transaction } from './submitter-rows.ts';

/** A row of `outgoing_messages`. */
type OutgoingMessage = {
  intent_id: string;
  message_hash: string;
  wire: Buffer;
  last_valid_block_height: bigint;
};

type Failed = {
  id: string;
  kind: 'outgoing' | 'incoming';
  settlementId: string;
  json: string;
  code: Intent['failure_code'];
  message: string;
};
const FIRST_SEARCH_MS = 1000;

/**
 * The outgoing payments of chain-submitter with the guards of
 * services/chain-submitter/ledger/store/messages.ts and intents.ts.
 */
export const createOutgoingSubmitter = (
  harness: Harness,
  { intents, transactions }: { intents: Map<string, Intent>; transactions: Map<string, Transaction> },
) => {
  /** By intent. */
  const messages = new Map<string, OutgoingMessage>();
  const { now, off } = harness;

  const insert = (row: Pick<Intent, 'intent_id' | 'kind' | 'object_id' | 'request'> & Partial<Intent>) => {
    const { intent_id: id } = row;
    const known = intents.get(id);
    if (known !== undefined) {
      if (off !== 'outgoing: one message of an attempt' || known.status === 'failed') return [];
      // Without the unique key there are two intents: the existing one is moved aside.
      const aside = `${id}#${intents.size}`;
      intents.set(aside, { ...known, intent_id: aside, row: aside });
      messages.set(aside, { ...messages.get(id)!, intent_id: aside });
      for (const one of transactions.values()) if (one.intent_id === id) one.intent_id = aside;
    }
    intents.set(id, {
      status: 'signed',
      generation: 0,
      ...{ signature: null, slot: null, failure_code: null, failure_message: null, traceparent: null },
      created_at: EPOCH + now(),
      worker_id: null,
      next_at: now(),
      row: id,
      ...row,
    });
    return [{ id }];
  };

  const models: Model[] = [
    model<{ id: string; objectId: string; json: string; since: string | null }>(
      /^insert into intents \(intent_id, kind, object_id, request, status, traceparent/,
      'id objectId json _ _ since',
      ({ id, objectId, json, since }) => {
        const created_at = since === null ? EPOCH + now() : Date.parse(since);
        const row = {
          intent_id: id,
          kind: 'outgoing',
          object_id: objectId,
          request: JSON.parse(json),
        } as const;
        harness.trace('intents', `${objectId} is signed for its vendor`);
        return insert({ ...row, created_at, next_at: now() + FIRST_SEARCH_MS });
      },
    ),
    model<Failed>(
      /^insert into intents \(intent_id, kind, object_id, request, status, failure_code/,
      'id kind settlementId json code message',
      ({ id, kind, settlementId, json, code, message }) => {
        if (intents.has(id)) return [];
        const request = JSON.parse(json) as object;
        // Mutation: a payment ends without a record that a late submission finds.
        if (off === 'incoming: tombstone' && kind === 'incoming' && !('reason' in request)) return [{ id }];
        harness.trace('intents', `${settlementId} is ended unsigned: ${message}`);
        const failure = { status: 'failed', failure_code: code, failure_message: message } as const;
        return insert({ intent_id: id, kind, object_id: settlementId, request, ...failure });
      },
    ),
    model<{ id: string; hash: string; wire: unknown; lastValid: number }>(
      /^insert into outgoing_messages/,
      'id hash wire lastValid',
      ({ id, hash, wire, lastValid }) => {
        const isOfOther = [...messages.values()].some(
          (other) => other.message_hash === hash && other.intent_id.split('#')[0] !== id,
        );
        // A rollback has no model, and every attempt of a run has a memo of its own.
        if (isOfOther) throw new Error('Two outgoing payments of a run have one message.');
        // Mutation: any number is the last block.
        const last = off === 'outgoing expiry: last block' ? 0n : BigInt(lastValid);
        const bytes = Buffer.from(wire as Uint8Array);
        messages.set(id, { intent_id: id, message_hash: hash, wire: bytes, last_valid_block_height: last });
        return [];
      },
    ),
    model<{ height: bigint; id: string }>(
      /^update outgoing_messages set last_valid_block_height/,
      'height id',
      ({ height, id }) => {
        messages.get(id)!.last_valid_block_height = BigInt(height);
        return [];
      },
    ),
    model<{ id: string }>(/from outgoing_messages where intent_id = \$1$/, 'id', ({ id }) => {
      const found = messages.get(id);
      return found === undefined
        ? []
        : [{ ...found, last_valid_block_height: Number(found.last_valid_block_height) }];
    }),
    model<{ hash: string }>(
      /^select exists \(select from outgoing_messages where message_hash = \$1\)/,
      'hash',
      ({ hash }) => [{ is_outgoing: [...messages.values()].some((one) => one.message_hash === hash) }],
    ),
    model<{ signatures: string[] }>(
      /^select signature from transactions where signature = any\(/,
      'signatures',
      ({ signatures }) =>
        [...new Set(signatures)].flatMap((signature) => (transactions.has(signature) ? [{ signature }] : [])),
    ),
    model<{ signatures: string[] }>(
      /and i\.kind not in \('incoming', 'outgoing'\)$/,
      'signatures',
      ({ signatures }) =>
        [...new Set(signatures)].flatMap((signature) => {
          const kind = intents.get(transactions.get(signature)?.intent_id ?? '')?.kind;
          return kind === undefined || kind === 'incoming' || kind === 'outgoing' ? [] : [{ signature }];
        }),
    ),
    model<{ settlementId: string; id: string }>(
      /^update intents set object_id = \$1/,
      'settlementId id',
      ({ settlementId, id }) => {
        const intent = intents.get(id);
        if (intent !== undefined) intent.object_id = settlementId;
        return [];
      },
    ),
  ];

  return {
    messages,
    models,
    /** A restore has lost a payment. */
    lose: (hash: string): void => {
      const found = [...messages.values()].find(({ message_hash }) => message_hash === hash);
      if (found === undefined) return;
      const { intent_id: id } = found;
      messages.delete(id);
      intents.delete(id);
      for (const [signature, one] of transactions) if (one.intent_id === id) transactions.delete(signature);
    },
    /** The settlement of a message; null: no outgoing payment has it. */
    settlementOf: (hash: string): string | null => {
      const found = [...messages.values()].find(({ message_hash }) => message_hash === hash);
      return intents.get(found?.intent_id ?? '')?.object_id ?? null;
    },
  };
};
