import type { IncomingRequest } from '../../services/chain-submitter/transactions/parse-order.ts';
import { EPOCH, type Model, model } from './database.ts';
import type { Harness } from './harness.ts';
import type { SubmitterTables } from './submitter-tables.ts';

type HeldQuery = {
  intentId: string;
  source: string;
  slot: number;
  contains: string[];
  asking: number;
  alone: boolean;
  last: boolean;
};

const DAY_MS = 86_400_000;

/**
 * The statements about payments of other clients over the tables of chain-submitter, with their
 * guards. A transaction runs in one event, so the locks of sources have nothing to wait for.
 */
export const incomingIntentModels = (
  harness: Harness,
  { intents, transactions, isPaused }: Pick<SubmitterTables, 'intents' | 'transactions' | 'isPaused'>,
): Model[] => {
  const { now, off } = harness;
  const requestOf = (intent: { request: unknown }) => intent.request as IncomingRequest;
  const signsLast = (intent: { request: unknown }) => requestOf(intent).signs_last === true;
  const incoming = () => [...intents.values()].filter(({ kind }) => kind === 'incoming');
  const payingOf = (source: string) =>
    incoming().filter((one) => one.status !== 'failed' && requestOf(one).source_account === source);
  const hasFailedBytes = (intentId: string) =>
    [...transactions.values()].some(({ intent_id, status }) => intent_id === intentId && status === 'failed');
  const failedOf = (source: string): bigint =>
    BigInt(
      incoming().filter(
        (one) =>
          one.status === 'failed' &&
          one.signature !== null &&
          requestOf(one).source_account === source &&
          one.created_at > EPOCH + now() - DAY_MS &&
          hasFailedBytes(one.intent_id),
      ).length,
    );
  const least = (a: bigint, b: bigint) => (a < b ? a : b);

  const heldOf = (
    { intentId, source, slot, contains, asking: count, alone, last }: HeldQuery,
    max: bigint,
  ) => {
    const asking = BigInt(count);
    const paying = payingOf(source);
    const others = paying.filter(({ intent_id }) => intent_id !== intentId);
    const held = others
      .filter((one) => (one.slot === null ? !signsLast(one) : one.slot > BigInt(slot)))
      .filter(({ signature }) => signature === null || !contains.includes(signature))
      .reduce((sum, one) => sum + BigInt(requestOf(one).amount), 0n);
    const failed = failedOf(source);
    const underWay = BigInt(others.filter((one) => one.slot === null && (last || !signsLast(one))).length);
    const paid = BigInt(paying.filter((one) => one.slot !== null).length);
    const spare =
      failed >= max || (alone && failed + underWay > 0n)
        ? 0n
        : alone
          ? 1n
          : failed + underWay + asking <= max
            ? asking
            : max - failed - underWay + least(paid, failed + underWay + asking);
    return { held: off === 'incoming: holds of a source' ? 0n : held, spare, exists: intents.has(intentId) };
  };

  const failuresOf = (accountId: string): bigint =>
    BigInt(
      incoming().filter((one) => requestOf(one).account_id === accountId && hasFailedBytes(one.intent_id))
        .length,
    );
  /** The payments of MPP to an account. A run is shorter than a day. */
  const roomOf = (accountId: string, { first, most }: { first: bigint; most: bigint }) => {
    const ofMpp = incoming()
      .filter(({ status }) => status !== 'failed')
      .map((one) => ({ ...one, request: requestOf(one) }))
      .filter(({ request }) => request.account_id === accountId && request.legs.length > 1);
    const paid = BigInt(ofMpp.filter(({ slot }) => slot !== null).length);
    const allowance = least(BigInt(first) + paid, BigInt(most));
    const underWay = BigInt(ofMpp.length) - paid;
    return { allowance, room: allowance - failuresOf(accountId) - underWay };
  };

  return [
    model(/pg_advisory_xact_lock/, '_', () => []),
    model<{ max: bigint; json: string }>(
      /as under_way\s+order by q\.position/,
      'max max max json',
      ({ max, json }) => (JSON.parse(json) as HeldQuery[]).map((query) => heldOf(query, BigInt(max))),
    ),
    model<{ first: bigint; most: bigint; accounts: string[] }>(
      /as allowance,.* as room\s+from unnest/s,
      'first most first most accounts _',
      ({ accounts, ...limits }) => accounts.map((account) => roomOf(account, limits)),
    ),
    model<{ ids: string[] }>(
      /^\s*select .* from intents i where i\.intent_id = any\(\$1::"text"\[\]\)$/s,
      'ids',
      ({ ids }) => [...new Set(ids)].flatMap((id) => (intents.has(id) ? [{ ...intents.get(id)! }] : [])),
    ),
    model<{ sources: string[]; vendors: string[] }>(
      /as of_source,.* as of_vendor\s+from unnest/s,
      'sources vendors',
      ({ sources, vendors }) =>
        sources.map((source, index) => ({
          paused: isPaused(),
          of_source: failedOf(source),
          of_vendor: failuresOf(vendors[index]!),
        })),
    ),
    model<{ source: string }>(/select i\.signature from intents i where/, 'source', ({ source }) =>
      payingOf(source).flatMap(({ slot, signature }) =>
        slot === null && signature !== null ? [{ signature }] : [],
      ),
    ),
  ];
};
