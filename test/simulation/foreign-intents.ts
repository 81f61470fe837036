import type { ForeignRequest } from '../../services/chain-submitter/intents/parse-order.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { SubmitterTables } from './submitter-tables.ts';

type HeldQuery = { intentId: string; source: string; slot: number; contains: string[]; asking: number };
type Closing = {
  id: string;
  kind: 'foreign';
  settlementId: string;
  request: string;
  code: 'insufficient_funds' | 'payment_failed';
  message: string;
};

const DAY_MS = 86_400_000;

/**
 * The statements about payments of other clients over the tables of chain-submitter, with their
 * guards. A transaction runs in one event, so the locks of sources have nothing to wait for.
 */
export const foreignIntentModels = (
  harness: Harness,
  { intents, transactions }: Pick<SubmitterTables, 'intents' | 'transactions'>,
): Model[] => {
  const { now, off } = harness;
  const requestOf = (intent: { request: unknown }) => intent.request as ForeignRequest;
  const foreign = () => [...intents.values()].filter(({ kind }) => kind === 'foreign');
  const payingOf = (source: string) =>
    foreign().filter((one) => one.status !== 'failed' && requestOf(one).source_account === source);
  const hasFailedBytes = (intentId: string) =>
    [...transactions.values()].some(({ intent_id, status }) => intent_id === intentId && status === 'failed');
  const failedOf = (source: string): bigint =>
    BigInt(
      foreign().filter(
        (one) =>
          one.status === 'failed' &&
          one.signature !== null &&
          requestOf(one).source_account === source &&
          one.created_at > EPOCH + now() - DAY_MS &&
          hasFailedBytes(one.intent_id),
      ).length,
    );
  const least = (a: bigint, b: bigint) => (a < b ? a : b);

  const heldOf = ({ intentId, source, slot, contains, asking: count }: HeldQuery, max: bigint) => {
    const asking = BigInt(count);
    const paying = payingOf(source);
    const others = paying.filter(({ intent_id }) => intent_id !== intentId);
    const held = others
      .filter((one) => one.slot === null || one.slot > BigInt(slot))
      .filter(({ signature }) => signature === null || !contains.includes(signature))
      .reduce((sum, one) => sum + BigInt(requestOf(one).amount), 0n);
    const failed = failedOf(source);
    const underWay = BigInt(others.filter((one) => one.slot === null).length);
    const paid = BigInt(paying.filter((one) => one.slot !== null).length);
    const spare =
      failed >= max
        ? 0n
        : failed + underWay + asking <= max
          ? asking
          : max - failed - underWay + least(paid, failed + underWay + asking);
    return { held: off === 'foreign: holds of a source' ? 0n : held, spare, exists: intents.has(intentId) };
  };

  const close = ({ id, kind, settlementId, request, code, message }: Closing): unknown[] => {
    if (intents.has(id)) return [];
    // Mutation: a payment ends without a record that a late submission finds.
    if (off === 'foreign: tombstone' && !('reason' in JSON.parse(request))) return [{ id }];
    intents.set(id, {
      ...{ intent_id: id, kind, object_id: settlementId, request: JSON.parse(request), status: 'failed' },
      ...{ generation: 0, signature: null, slot: null, failure_code: code, failure_message: message },
      ...{ traceparent: null, created_at: EPOCH + now(), worker_id: null, next_at: now(), row: id },
    });
    harness.trace('intents', `${settlementId} is ended unsigned: ${message}`);
    return [{ id }];
  };

  return [
    model(/pg_advisory_xact_lock/, '_', () => []),
    model<{ max: bigint; json: string }>(
      /as under_way\s+order by q\.position/,
      'max max max json',
      ({ max, json }) => (JSON.parse(json) as HeldQuery[]).map((query) => heldOf(query, BigInt(max))),
    ),
    model<{ source: string }>(
      /^\s*select count\(\*\) as failed from intents i join transactions t/,
      'source',
      ({ source }) => [{ failed: failedOf(source) }],
    ),
    model<{ source: string }>(/select i\.signature from intents i where/, 'source', ({ source }) =>
      payingOf(source).flatMap(({ slot, signature }) =>
        slot === null && signature !== null ? [{ signature }] : [],
      ),
    ),
    model<{ accountId: string }>(/'foreign_failures\/' \|\| \$1/, 'accountId', ({ accountId }) => [
      {
        reserved: BigInt(
          foreign().filter((one) => requestOf(one).account_id === accountId && hasFailedBytes(one.intent_id))
            .length,
        ),
      },
    ]),
    model<Closing>(
      /values \(\$1, \$2, \$3, \$4::jsonb, 'failed', \$5, \$6,/,
      'id kind settlementId request code message',
      close,
    ),
    model<{ settlementId: string; id: string }>(
      /update intents set object_id = \$1/,
      'settlementId id',
      ({ settlementId, id }) => {
        intents.get(id)!.object_id = settlementId;
        harness.trace('intents', `${id} is of ${settlementId} now`);
        return [];
      },
    ),
    model<{ signatures: string[] }>(
      /i\.kind not in \('foreign', 'external'\)/,
      'signatures',
      ({ signatures }) =>
        signatures.flatMap((signature) => {
          const { kind } = intents.get(transactions.get(signature)?.intent_id ?? '') ?? {};
          return kind === undefined || kind === 'foreign' || kind === 'external' ? [] : [{ signature }];
        }),
    ),
  ];
};
