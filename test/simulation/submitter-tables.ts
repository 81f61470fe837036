import type { ClaimedIntent, IntentRow } from '../../services/chain-submitter/store/intents.ts';
import { Away, createOutbox, EPOCH, type Model, model, UniqueViolation } from './database.ts';
import type { World } from './world.ts';

export type Intent = IntentRow & { worker_id: string | null; next_at: number; row: string };
export type Transaction = {
  signature: string;
  intent_id: string;
  generation: number;
  wire: Buffer;
  last_valid_block_height: bigint;
  status: 'live' | 'expired' | 'failed';
  signed_at: number;
};
type MoveRow = {
  intent_id: string;
  generation: number;
  tx_hash: string | null;
  slot: number | null;
  failure_code: IntentRow['failure_code'];
  failure_message: string | null;
  subject: string;
  msg_id: string;
  payload: unknown;
};

const REST_MS = 15_000;
const ALIVE_MS = 3000;
const OPEN = ['accepted', 'signed', 'confirmed', 'reopened'];

export type SubmitterTables = ReturnType<typeof createSubmitterTables>;

/**
 * The tables of chain-submitter with the guards of services/chain-submitter/store: primary keys, the partial unique
 * index of live transactions, conditional updates, leases.
 * @param sendEarly what the mutation "commit before send" does with bytes that are not committed yet
 */
export const createSubmitterTables = (world: World, { sendEarly }: { sendEarly: (wire: Buffer) => void }) => {
  const intents = new Map<string, Intent>();
  const transactions = new Map<string, Transaction>();
  const workers = new Map<string, number>();
  /** Rows that a set-back database has lost: signature to what the intent was for. */
  const lost = new Map<string, string>();
  const outbox = createOutbox(world);
  let pausedUntil = 0;
  const { now } = world;

  const liveOf = (intentId: string) =>
    [...transactions.values()].find(({ intent_id, status }) => intent_id === intentId && status === 'live');
  const claimed = (intent: Intent): ClaimedIntent => {
    const live = liveOf(intent.intent_id);
    return {
      ...intent,
      signature: live?.signature ?? null,
      wire: live?.wire ?? null,
      last_valid_block_height: live?.last_valid_block_height ?? null,
      paused: now() < pausedUntil,
      read_at: EPOCH + now(),
    };
  };

  const insertIntent = (values: {
    id: string;
    kind: Intent['kind'];
    objectId: string;
    request: string;
    generation: number;
    workerId: string;
  }): unknown[] => {
    const { kind, objectId, request, generation, workerId } = values;
    let intentId = values.id;
    if (intents.has(intentId)) {
      if (world.off !== 'unique intent (inbox)') return [];
      intentId = `${intentId}#${intents.size}`;
    }
    const intent: Intent = {
      intent_id: intentId,
      kind,
      object_id: objectId,
      request: JSON.parse(request),
      status: 'accepted',
      generation,
      tx_hash: null,
      slot: null,
      failure_code: null,
      failure_message: null,
      traceparent: null,
      created_at: EPOCH + now(),
      worker_id: workerId,
      next_at: now() + REST_MS,
      row: intentId,
    };
    intents.set(intentId, intent);
    world.trace('intents', `${objectId} is accepted`);
    return [claimed(intent)];
  };

  const isFree = (intent: Intent, only: string | null, workerId: string, driving: string[]): boolean => {
    if (!OPEN.includes(intent.status) || (only !== null && intent.intent_id !== only)) return false;
    if (intent.worker_id === null) return intent.next_at <= now() || only !== null;
    if (intent.worker_id === workerId) return intent.next_at <= now() && !driving.includes(intent.intent_id);
    return (workers.get(intent.worker_id) ?? -1) <= now();
  };
  const claimIntents = ({
    only,
    workerId,
    driving,
    limit,
  }: {
    only: string | null;
    workerId: string;
    driving: string[];
    limit: number;
  }): unknown[] => {
    if (only === null && world.off === 'sweeper of chain-submitter') return [];
    const free = [...intents.values()]
      .filter((intent) => isFree(intent, only, workerId, driving))
      .sort((a, b) => a.next_at - b.next_at)
      .slice(0, limit);
    for (const intent of free) Object.assign(intent, { worker_id: workerId, next_at: now() + REST_MS });
    return free.map(claimed);
  };

  const moveIntents = ({
    json,
    to,
    from,
  }: {
    json: string;
    to: Intent['status'];
    from: string[];
  }): unknown[] => {
    const ended = to === 'failed' || to === 'finalized';
    return (JSON.parse(json) as MoveRow[]).flatMap((move) => {
      const intent = intents.get(move.intent_id);
      if (intent === undefined || intent.generation !== move.generation) return [];
      if (!from.includes(intent.status)) return [];
      world.trace('intents', `${intent.object_id}: ${intent.status} → ${to} ${move.failure_message ?? ''}`);
      intent.status = to;
      intent.tx_hash = move.tx_hash ?? intent.tx_hash;
      if (to === 'reopened') intent.slot = null;
      else if (move.slot !== null) intent.slot = BigInt(move.slot);
      intent.failure_code = move.failure_code;
      intent.failure_message = move.failure_message;
      intent.next_at = now() + REST_MS;
      if (ended) intent.worker_id = null;
      const live = liveOf(intent.intent_id);
      if (to === 'failed' && live !== undefined) live.status = 'failed';
      const { subject, msg_id, payload } = move;
      return outbox.insert(JSON.stringify([{ subject, msg_id, payload }]));
    });
  };

  type Signed = {
    to: Intent['status'];
    generation: number;
    signature: string;
    intentId: string;
    last: number;
    from: string[];
    bytes: Buffer;
    lastValid: number;
    signBefore: number | null;
    json: string;
  };
  const commitSigned = (values: Signed): unknown[] => {
    const { to, generation, signature, intentId, last, from, bytes, lastValid, signBefore, json } = values;
    const intent = intents.get(intentId);
    if (intent === undefined) return [];
    if (world.off !== 'signing deadline' && signBefore !== null && EPOCH + now() > signBefore) return [];
    const guarded = world.off !== 'one live generation';
    if (guarded && (intent.generation !== last || !from.includes(intent.status))) return [];
    if (guarded && liveOf(intentId) !== undefined) throw new UniqueViolation('transactions_one_live');
    const own = [...transactions.values()].filter((one) => one.intent_id === intentId);
    if (guarded && own.some((one) => one.generation === generation))
      throw new UniqueViolation('transactions_intent_id_generation_key');
    if (transactions.has(signature)) throw new UniqueViolation('transactions_pkey');
    world.call(signature, `T${transactions.size + 1}`);
    const text = `generation ${generation} of ${intent.object_id} is signed and committed: ${signature}`;
    world.trace('intents', text);
    Object.assign(intent, {
      status: to,
      generation,
      tx_hash: signature,
      slot: null,
      next_at: now() + REST_MS,
    });
    transactions.set(signature, {
      signature,
      intent_id: intentId,
      generation,
      wire: Buffer.from(bytes),
      last_valid_block_height: BigInt(lastValid),
      status: 'live',
      signed_at: EPOCH + now(),
    });
    return outbox.insert(json);
  };

  const models: Model[] = [
    model(
      /^\s*insert into intents as i/,
      'id kind objectId request generation _ workerId rest',
      insertIntent,
    ),
    model<{ id: string }>(/^\s*select .* from intents i where i\.intent_id = \$1$/s, 'id', ({ id }) =>
      intents.has(id) ? [{ ...intents.get(id)! }] : [],
    ),
    model(
      /with free as \(\s*select c\.intent_id from intents c/,
      'only only only workerId driving limit workerId rest',
      claimIntents,
    ),
    model<{ seconds: number; id: string; workerId: string }>(
      /update intents set worker_id = null, next_at = app_now\(\) \+ make_interval/,
      'seconds id workerId',
      ({ seconds, id, workerId }) => {
        const intent = intents.get(id);
        if (intent?.worker_id === workerId)
          Object.assign(intent, { worker_id: null, next_at: now() + seconds * 1000 });
        return [];
      },
    ),
    model(/with m as \(\s*select \* from jsonb_to_recordset/, 'json to rest from', moveIntents),
    model<Signed>(
      /with moved as \(\s*update intents set status = \$1, generation = \$2/,
      'to generation signature rest intentId last from signBefore signBefore signature generation bytes lastValid _ _ json',
      (values) => {
        if (world.off === 'commit before send') {
          sendEarly(values.bytes);
          if (world.random.chance(0.1)) throw new Away('connection refused');
        }
        return commitSigned(values);
      },
    ),
    model<{ signature: string }>(
      /select exists \(select from transactions where signature = \$1 and status = 'live'\)/,
      'signature',
      ({ signature }) => [{ there: transactions.get(signature)?.status === 'live' }],
    ),
    model<{ signature: string }>(
      /update transactions set status = 'expired' where signature = \$1 and status = 'live'/,
      'signature',
      ({ signature }) => {
        const transaction = transactions.get(signature);
        if (transaction?.status !== 'live') return [];
        transaction.status = 'expired';
        world.trace('intents', `${signature} is proven dead`);
        return [{ signature }];
      },
    ),
    model<{ signature: string }>(
      /select intent_id from transactions where signature = \$1/,
      'signature',
      ({ signature }) => {
        const transaction = transactions.get(signature);
        return transaction === undefined ? [] : [{ intent_id: transaction.intent_id }];
      },
    ),
    model<{ workerId: string }>(
      /insert into workers \(worker_id, alive_until\)/,
      'workerId _',
      ({ workerId }) => {
        workers.set(workerId, now() + ALIVE_MS);
        return [];
      },
    ),
    model<{ json: string }>(/^\s*insert into outbox/, 'json', ({ json }) => outbox.insert(json)),
  ];

  return {
    intents,
    transactions,
    workers,
    outbox,
    models,
    lost,
    /** The operator's pause: nothing new is signed until it ends. */
    pause: (ms: number) => {
      pausedUntil = now() + ms;
      world.trace('operator', `pauses payments for ${ms.toFixed(0)} ms`);
    },
  };
};
