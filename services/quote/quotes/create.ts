import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid, notFound } from '../../../shared/contract/errors.ts';
import type { CaptureTerms } from '../../../shared/contract/quote/capture.ts';
import { LINK_KEY, type quote } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { batched } from '../../../shared/db/batched.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { Peers, Service } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { amountsOfExtension, findExtended } from './extension.ts';
import { captureTerms } from './model/capture.ts';
import { newQuote, type QuoteSigner, showNewQuote } from './new-quote.ts';
import { amountsOf, reservePayout } from './price.ts';
import { insertQuotes, type NewQuote } from './store.ts';

type Input = z.infer<typeof quote.operations.create.input>;

type Deps = Pick<Records, 'pool' | 'clock'> &
  Pick<Terms, 'fee'> &
  QuoteSigner &
  Pick<Peers, 'findService' | 'reserveTokenAccount'>;

const DEFAULT_EXPIRES_IN_SECONDS = 600;
/**
 * docs/spec/interface.md: at most 4096 bytes. It bounds the JSON that is signed
 * (docs/spec/decisions.md, Quote).
 */
const MAX_SCOPE_BYTES = 4096;
/**
 * The escaped NUL, not an escaped backslash before `u0000`. The events of a settlement contain the
 * scope, and Postgres stores no NUL in jsonb: such a payment could not be recorded as confirmed.
 */
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

/** A capture is decided by the end of its window, and may wait a day for the chain. */
const CAPTURE_GRACE_MS = 24 * 3_600_000;
const capturedWithinMs = (capture: CaptureTerms | null): number =>
  capture === null ? 0 : capture.window_seconds * 1000 + CAPTURE_GRACE_MS;

const checkedScope = ({ scope }: Input): NonNullable<Input['scope']> | null => {
  if (scope === undefined) return null;
  const text = JSON.stringify(scope);
  if (Buffer.byteLength(text) > MAX_SCOPE_BYTES) {
    throw invalid('scope', `must be at most ${MAX_SCOPE_BYTES} bytes of JSON`);
  }
  if (Object.hasOwn(scope, LINK_KEY))
    throw invalid('scope', `must not have the key ${LINK_KEY}, which quotes of payment links have`);
  if (NUL_IN_JSON.test(text)) throw invalid('scope', 'must not contain the character U+0000; remove it');
  return scope;
};

/**
 * What a quote is for, what it costs and who is paid. An extension is as the quote that it extends,
 * also where the service has changed since.
 */
const priced = async (deps: Pick<Deps, 'pool' | 'fee'>, input: Input, service: Service) => {
  if (input.extends === undefined)
    return {
      payee: service,
      scope: checkedScope(input),
      capture: captureTerms(input, deps.fee),
      amounts: amountsOf(
        parseMicro(input.max_amount ?? input.quote_amount ?? service.price),
        deps.fee,
        input.max_amount === undefined ? 'quote_amount' : 'max_amount',
      ),
      redeem_window_seconds: input.redeem_window_seconds ?? service.redeem_window_seconds,
    };
  const first = await findExtended(deps.pool, { ...input, extends: input.extends }, service);
  const { payout_address, service_name: name, redeem_window_seconds, scope, capture } = first;
  const { service_domain: shown } = first;
  const domain = shown === undefined ? null : { status: 'verified' as const, display_name: shown };
  return {
    payee: { ...service, payout_address, name, domain },
    amounts: amountsOfExtension(input.max_amount!, capture),
    redeem_window_seconds,
    scope,
    capture,
    extended: first.quote_id,
  };
};

/** POST /v1/quote. */
export const create = (deps: Deps): Handler<typeof quote.operations.create> => {
  // Quotes that are created at the same moment share a commit.
  const insert = batched(async (rows: readonly NewQuote[]) => {
    await insertQuotes(deps.pool, rows);
    return rows;
  });
  return async (input, caller, key) => {
    // The scope of a key is its service. Any other service, of the same account or not, is not
    // found.
    const service = input.service_id === caller.service_id ? await deps.findService(input.service_id) : null;
    if (service === null || service.account_id !== caller.account_id) throw notFound('service');
    if (service.status !== 'active') throw conflict('the service is closing and accepts no new quotes');

    const { payee, amounts, redeem_window_seconds, ...what } = await priced(deps, input, service);
    const lifetimeMs = (input.expires_in_seconds ?? DEFAULT_EXPIRES_IN_SECONDS) * 1000;
    await reservePayout(deps, payee, lifetimeMs + capturedWithinMs(what.capture));

    const now = deps.clock();
    const terms = { ...amounts, redeem_window_seconds, created_at: now, expires_at: now + lifetimeMs };
    const row = newQuote(deps, payee, terms, what);
    const answer = showNewQuote(row);
    if (key === undefined) await insert(row);
    else
      await deps.pool.transaction(async (tx) => {
        await insertQuotes(tx, [row]);
        await complete(tx, key, answer);
      });
    count('quittance_quotes_total', 1);
    return answer;
  };
};
