import { preparations as preparationMachine } from '../../services/chain-submitter/ledger/model/preparation.ts';
import { type Event, intents as intentMachine } from '../../services/chain-submitter/ledger/model/state.ts';
import { transactions as transactionMachine } from '../../services/chain-submitter/ledger/model/transaction.ts';
import { type ClaimedIntent, FRESH_MS } from '../../services/chain-submitter/ledger/store/intents.ts';
import type { PreparationRow } from '../../services/chain-submitter/ledger/store/preparations.ts';
import { createAnnounced } from './announced.ts';
import { createOutbox, EPOCH, type Model, model, Unavailable, UniqueViolation } from './database.ts';
import type { Harness } from './harness.ts';
import { createOutgoingSubmitter } from './outgoing-submitter.ts';
import {
  type Intent,
  type Prepared,
  shorten,
  type Transaction,
  type TransitionRow,
} from './submitter-rows.ts';

/** Bytes as a statement binds them. */
const bytesOf = (bound: unknown): Buffer => Buffer.from(bound as Uint8Array);

const REST_MS = 15_000;
const ALIVE_MS = 3000;

export type SubmitterTables = ReturnType<typeof createSubmitterTables>;

/**
 * The tables of chain-submitter with the guards of the stores of services/chain-submitter: primary
 * keys, the partial unique index of live transactions, conditional updates by the real transition
 * tables, leases.
 * @param sendEarly the effect of the mutation "commit before send" on bytes that are not committed
 * yet
 */
export const createSubmitterTables = (
  harness: Harness,
  { sendEarly }: { sendEarly: (wire: Buffer) => void },
) => {
  const intents = new Map<string, Intent>();
  const transactions = new Map<string, Transaction>();
  const workers = new Map<string, number>();
  const preparations = new Map<string, PreparationRow>();
  /** Rows that a restored database has lost: signature to the object id of the intent. */
  const lost = new Map<string, string>();
  const outgoing = createOutgoingSubmitter(harness, { intents, transactions });
  const announced = createAnnounced(harness);
  const outbox = createOutbox(harness, announced.note);
  let pausedUntil = 0;
  const isPaused = () => now() < pausedUntil;
  const { now } = harness;

  const liveOf = (intentId: string) =>
    [...transactions.values()].find(({ intent_id, status }) => intent_id === intentId && status === 'live');
  const claimed = (intent: Intent): Omit<ClaimedIntent, 'isRecorded'> => {
    const live = liveOf(intent.intent_id);
    return {
      ...intent,
      live_signature: live?.signature ?? null,
      wire: live?.wire ?? null,
      last_valid_block_height: live?.last_valid_block_height ?? null,
      paused: isPaused(),
      read_at: EPOCH + now(),
    };
  };

  type NewRow = Pick<Intent, 'intent_id' | 'kind' | 'object_id' | 'request'> & { generation: number };
  const insertIntent = (
    { intent_id, kind, object_id, request, generation }: NewRow,
    workerId: string,
  ): Intent => {
    const known = intents.get(intent_id);
    if (known !== undefined) {
      // Without the index there are two intents: the existing one is moved aside.
      const aside = `${intent_id}#${intents.size}`;
      intents.set(aside, { ...known, intent_id: aside, row: aside });
      for (const one of transactions.values()) if (one.intent_id === intent_id) one.intent_id = aside;
    }
    const intent: Intent = {
      ...{ intent_id, kind, object_id, request, generation },
      ...{ status: 'accepted', signature: null, slot: null },
      ...{ failure_code: null, failure_message: null, traceparent: null },
      ...{ created_at: EPOCH + now(), worker_id: workerId, next_at: now() + REST_MS, row: intent_id },
    };
    intents.set(intent_id, intent);
    return intent;
  };
  const mayInsert = (intentId: string): boolean =>
    !intents.has(intentId) || harness.off === 'unique intent (inbox)';

  const insertIntents = ({ json, workerId }: { json: string; workerId: string }): unknown[] =>
    (JSON.parse(json) as NewRow[])
      .sort((a, b) => (a.intent_id < b.intent_id ? -1 : 1))
      .filter(({ intent_id }) => mayInsert(intent_id))
      .map((row) => {
        harness.trace('intents', `${row.object_id} is accepted`);
        return claimed(insertIntent(row, workerId));
      });

  const isFree = (intent: Intent, only: string | null, workerId: string, executing: string[]): boolean => {
    if (intentMachine.isTerminal(intent.status) || (only !== null && intent.intent_id !== only)) return false;
    if (intent.worker_id === null) return intent.next_at <= now() || only !== null;
    if (intent.worker_id === workerId)
      return intent.next_at <= now() && !executing.includes(intent.intent_id);
    return (workers.get(intent.worker_id) ?? -1) <= now();
  };
  const claimIntents = ({
    only,
    workerId,
    executing,
    limit,
  }: {
    only: string | null;
    workerId: string;
    executing: string[];
    limit: number;
  }): unknown[] => {
    if (only === null && harness.off === 'sweep of chain-submitter') return [];
    const free = [...intents.values()]
      .filter((intent) => isFree(intent, only, workerId, executing))
      .sort((a, b) => a.next_at - b.next_at)
      .slice(0, limit);
    for (const intent of free) Object.assign(intent, { worker_id: workerId, next_at: now() + REST_MS });
    return free.map(claimed);
  };

  const hasDeadBytes = ({ intent_id, generation }: Intent): boolean =>
    [...transactions.values()].some(
      (one) => one.intent_id === intent_id && one.generation === generation && one.status !== 'live',
    );

  const transitionIntents = (event: Exclude<Event, 'sign'>, { json }: { json: string }): unknown[] =>
    (JSON.parse(json) as TransitionRow[]).flatMap((given) => {
      const intent = intents.get(given.intent_id);
      if (intent === undefined || intent.generation !== given.generation) return [];
      if (event === 'confirm' && hasDeadBytes(intent)) return [];
      const to = intentMachine.next(intent.status, event);
      if (to === null) return [];
      harness.trace(
        'intents',
        `${intent.object_id}: ${intent.status} → ${to} ${given.failure_message ?? ''}`,
      );
      intent.status = to;
      intent.signature = given.signature ?? intent.signature;
      if (event === 'fork') intent.slot = null;
      else if (given.slot !== null) intent.slot = BigInt(given.slot);
      intent.failure_code = given.failure_code;
      intent.failure_message = given.failure_message;
      intent.next_at = now() + REST_MS;
      if (event === 'finalize') shorten(intent, transactions);
      if (intentMachine.isTerminal(to)) intent.worker_id = null;
      const live = liveOf(intent.intent_id);
      if (event === 'fail' && live !== undefined) live.status = transactionMachine.to('fail');
      const { subject, msg_id, payload } = given;
      return outbox.insert(JSON.stringify([{ subject, msg_id, payload }]));
    });

  type Signed = {
    intent_id: string;
    generation: number;
    signature: string;
    wire: string;
    last_valid: number;
    sign_before: number | null;
    subject: string | null;
    msg_id: string | null;
    payload: unknown;
  } & (Omit<NewRow, 'generation'> | { kind?: undefined });
  type SignedRows = { json: string; workerId: string };
  const maySign = (signBefore: number | null): boolean => {
    if (signBefore === null) return true;
    if (now() < pausedUntil) return false;
    return harness.off === 'signing deadline' || EPOCH + now() <= signBefore;
  };
  const isFresh = (request: unknown): boolean =>
    Math.abs(EPOCH + now() - Date.parse((request as { accepted_at: string }).accepted_at)) <= FRESH_MS;
  const isSigned = (row: Signed): boolean => {
    const { intent_id, generation, sign_before } = row;
    if (!maySign(sign_before)) return false;
    if (row.kind !== undefined) return mayInsert(intent_id) && (sign_before === null || isFresh(row.request));
    const intent = intents.get(intent_id);
    if (intent === undefined) return false;
    if (harness.off === 'one live generation') return true;
    return intent.generation === generation - 1 && intentMachine.next(intent.status, 'sign') !== null;
  };
  const commitSigned = ({ json, workerId }: SignedRows): unknown[] => {
    const rows = (JSON.parse(json) as Signed[]).filter(isSigned);
    // One statement: a row that violates a constraint undoes all of them.
    for (const { intent_id, generation, signature, kind } of rows) {
      const own = [...transactions.values()].filter((one) => one.intent_id === intent_id);
      const guarded = harness.off !== 'one live generation' && kind === undefined;
      if (guarded && liveOf(intent_id) !== undefined) throw new UniqueViolation('transactions_one_live');
      if (guarded && own.some((one) => one.generation === generation))
        throw new UniqueViolation('transactions_intent_id_generation_key');
      if (transactions.has(signature)) throw new UniqueViolation('transactions_pkey');
    }
    for (const row of rows) if (row.kind !== undefined) insertIntent(row, workerId);
    return rows.map(({ intent_id, generation, signature, wire, last_valid, subject, msg_id, payload }) => {
      const intent = intents.get(intent_id)!;
      harness.call(signature, `T${transactions.size + 1}`);
      const text = `generation ${generation} of ${intent.object_id} is signed and committed: ${signature}`;
      harness.trace('intents', text);
      const next_at = now() + REST_MS;
      Object.assign(intent, {
        status: intentMachine.to('sign'),
        generation,
        signature,
        slot: null,
        next_at,
      });
      transactions.set(signature, {
        signature,
        intent_id,
        generation,
        wire: Buffer.from(wire, 'base64'),
        last_valid_block_height: BigInt(last_valid),
        status: 'live',
        signed_at: EPOCH + now(),
      });
      const published =
        msg_id === null ? null : outbox.insert(JSON.stringify([{ subject, msg_id, payload }]));
      // Adopted bytes have no wire: the payment is on the chain.
      if (wire !== '') announced.checkSigned(intent.object_id, generation);
      return { changed_id: intent_id, published, over_budget: false };
    });
  };

  const models: Model[] = [
    ...outgoing.models,
    model(/^\s*insert into intents as i/, 'workerId rest json', insertIntents),
    model<{ id: string }>(/^\s*select .* from intents i where i\.intent_id = \$1$/s, 'id', ({ id }) =>
      intents.has(id) ? [{ ...intents.get(id)! }] : [],
    ),
    model(
      /with free as \(\s*select c\.intent_id from intents c/,
      'only only only workerId executing limit workerId rest',
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
    ...(['confirm', 'finalize', 'fork', 'fail'] as const).map((event) =>
      model<{ json: string }>(
        new RegExp(`with input as .*update intents i set status = '${intentMachine.to(event)}'`, 's'),
        'json rest',
        (values) => transitionIntents(event, values),
      ),
    ),
    model<SignedRows>(
      /with s as \(\s*select \* from jsonb_to_recordset/,
      'json workerId rest fresh rest',
      (values) => {
        if (harness.off === 'commit before send') {
          for (const { wire } of JSON.parse(values.json) as Signed[]) sendEarly(Buffer.from(wire, 'base64'));
          if (harness.random.chance(0.1)) throw new Unavailable('connection refused');
        }
        return commitSigned(values);
      },
    ),
    model<{ signature: string }>(
      /select exists \(select from transactions where signature = \$1 and intent_id = \$2\s+and status = 'live'\)/,
      'signature id',
      ({ signature }) => [{ is_committed: transactions.get(signature)?.status === 'live' }],
    ),
    model<{ signature: string }>(
      /update transactions t set status = 'expired' from open/,
      'signature id signature',
      ({ signature }) => {
        const transaction = transactions.get(signature);
        if (transaction === undefined || transactionMachine.next(transaction.status, 'expire') === null)
          return [];
        if (intentMachine.next(intents.get(transaction.intent_id)!.status, 'sign') === null) return [];
        transaction.status = transactionMachine.to('expire');
        harness.trace('intents', `${signature} is proven dead`);
        return [{ signature }];
      },
    ),
    model<{ signatures: string[] }>(
      /select signature, intent_id from transactions where signature = any/,
      'signatures',
      ({ signatures }) =>
        [...new Set(signatures)].flatMap((signature) => {
          const transaction = transactions.get(signature);
          return transaction === undefined ? [] : [{ signature, intent_id: transaction.intent_id }];
        }),
    ),
    model<{ signature: string; id: string; generation: number }>(
      /with revived as \(\s*update intents i/,
      'signature id generation signature',
      ({ signature, id, generation }) => {
        const [intent, transaction] = [intents.get(id), transactions.get(signature)];
        if (intent === undefined || intent.generation !== generation) return [];
        const to = intentMachine.next(intent.status, 'sign');
        if (to === null || transaction === undefined || transaction.intent_id !== id) return [];
        if (transactionMachine.next(transaction.status, 'revive') === null) return [];
        if (liveOf(id) !== undefined) throw new UniqueViolation('transactions_one_live');
        Object.assign(intent, { status: to, signature, slot: null });
        transaction.status = transactionMachine.to('revive');
        harness.trace('intents', `${signature} of ${intent.object_id} is live again`);
        const { wire, last_valid_block_height } = transaction;
        return [{ wire, last_valid_block_height }];
      },
    ),
    model<{ id: string; token: string }>(
      /select exists \(\s*select from intents i where i\.kind = 'settle' and i\.status = 'failed'/,
      'id token',
      ({ id, token }) => [
        {
          failed: [...intents.values()].some(
            ({ intent_id, status, request }) =>
              intent_id !== id &&
              status === 'failed' &&
              (request as { quote_token: string }).quote_token === token,
          ),
        },
      ],
    ),
    model<{ workerId: string }>(
      /insert into workers \(worker_id, alive_until\)/,
      'workerId _',
      ({ workerId }) => {
        workers.set(workerId, now() + ALIVE_MS);
        return [];
      },
    ),
    model<{ id: string }>(/from preparations where preparation_id = \$1( for share)?$/, 'id', ({ id }) => {
      const row = preparations.get(id);
      return row === undefined ? [] : [{ ...row }];
    }),
    model<Prepared>(
      /insert into preparations as p/,
      'preparation_id kind account_id budget_account_id owner json message creates last_valid_block_height expires_at',
      ({ json, ...row }) => {
        const { preparation_id: id } = row;
        const known = preparations.get(id);
        if (known !== undefined && preparationMachine.next(known.status, 'prepare') === null) return [];
        const ends = { status: 'open', submitted_message: null, signature: null } as const;
        preparations.set(id, { ...row, message: bytesOf(row.message), request: JSON.parse(json), ...ends });
        harness.trace('preparations', `${id} is prepared`);
        return [{ preparation_id: id }];
      },
    ),
    model<{ signature: string; submitted: unknown; id: string; message: unknown }>(
      /update preparations set status = 'submitted'/,
      'signature submitted id message',
      ({ signature, submitted, id, message }) => {
        const row = preparations.get(id);
        if (row === undefined || !row.message.equals(bytesOf(message))) return [];
        const status = preparationMachine.next(row.status, 'submit');
        if (status === null) return [];
        Object.assign(row, { status, signature, submitted_message: bytesOf(submitted) });
        harness.trace('preparations', `${id} is submitted`);
        return [{ preparation_id: id }];
      },
    ),
    model<{ id: string }>(/update preparations set status = 'cancelled'/, 'id', ({ id }) => {
      const row = preparations.get(id);
      const status = row === undefined ? null : preparationMachine.next(row.status, 'cancel');
      if (row === undefined || status === null) return [];
      row.status = status;
      harness.trace('preparations', `${id} is cancelled`);
      return [{ preparation_id: id }];
    }),
    model(/^\s*select \(paused or .* as paused from settings/, '', () => [{ paused: isPaused() }]),
    model<{ json: string }>(/^\s*insert into outbox/, 'json', ({ json }) => outbox.insert(json)),
  ];

  return {
    intents,
    transactions,
    workers,
    preparations,
    outbox,
    announced,
    models,
    outgoing,
    lost,
    isPaused,
    /** The operator's pause: nothing new is signed until it ends. */
    pause: (ms: number) => {
      pausedUntil = now() + ms;
      harness.trace('operator', `pauses payments for ${ms.toFixed(0)} ms`);
    },
  };
};
