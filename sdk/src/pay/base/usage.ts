import { storedClaims } from '../../checks/tokens.ts';
import { isEventStream } from '../../event-stream.ts';
import type { ReadSettlement } from '../../settle.ts';
import { sharedMap } from '../../shared-map.ts';
import { pause } from '../../wait.ts';
import { isTab, isUnpaid } from './rules.ts';
import type { PaymentRecord } from './store.ts';
import { whileRead } from './while-read.ts';

/** What a call to a vendor has cost who is paid for what was used. */
export type Usage = {
  settlementId: string;
  /**
   * The cost of the call, USDC micro-units. Null: a stream whose end was not read yet. Of one that
   * is not of events it is known a moment after its end.
   */
  chargedMicro: string | null;
  /** What is left of its tab. Null if the authorization was for this call. */
  leftMicro: string | null;
  /**
   * The least use of an authorization that its vendor is paid for. Less does not exceed the fee: it
   * is released, and costs nothing. Null for a call on a tab that an earlier call has opened.
   */
  leastMicro: string | null;
};
type Figures = Pick<Usage, 'chargedMicro' | 'leftMicro'>;

const HEADER = 'quittance-usage';
/** The vendor keeps the cost of the call for a moment, to be asked for. */
const LATER = /(?:^|, ?)charged=later(?:,|$)/;
const usages = sharedMap<Response, Usage>('usages');

const amountIn = (text: string, name: string): string | null =>
  new RegExp(`(?:^|, ?)${name}=(0|[1-9][0-9]{0,18})(?:,|$)`).exec(text)?.[1] ?? null;
const figuresIn = (text: string): Figures => ({
  chargedMicro: amountIn(text, 'charged'),
  leftMicro: amountIn(text, 'left'),
});

/** What a vendor says that a call has cost. Null: nothing, or the call was not paid by use. */
const readUsage = ({ settlement, quoteToken }: PaymentRecord, { headers, ok }: Response): Usage | null => {
  const header = headers.get(HEADER);
  if (settlement === null) return null;
  const capture = quoteToken === null ? undefined : storedClaims(quoteToken).capture;
  // The cost of a stream for one call is not known when it begins, so its vendor says nothing.
  if (header === null && (capture === undefined || !ok || !isStream(headers))) return null;
  return {
    settlementId: settlement.settlement_id,
    ...figuresIn(header ?? ''),
    leastMicro: capture === undefined ? null : String(BigInt(capture.fee.min) + 1n),
  };
};

/** An answer whose cost was not known when it began. */
const isStream = (headers: Headers): boolean => headers.get('content-length') === null;

/** More than the last event of a stream that its meter has stopped, or its last comment. */
const TAIL = 500;
/** The comment that ends a stream of events, or the event that ends one that was stopped. */
const LAST = /\n(?:: quittance-usage ([^\n]*)|event: quittance-stopped\ndata: (\{[^\n]*\}))\n\n$/;

const lastFigures = (tail: string): Figures | null => {
  const [, comment, event] = LAST.exec(`\n${tail}`) ?? [];
  if (event === undefined) return comment === undefined ? null : figuresIn(comment);
  try {
    const { usage } = JSON.parse(event) as { usage?: unknown };
    return typeof usage === 'string' ? figuresIn(usage) : null;
  } catch {
    return null;
  }
};

const TRIES = 6;
const PAUSE_MS = 500;

/**
 * What the API says that was paid for the authorization of one call, which ends with it. Null: it
 * is open.
 */
const figuresOfApi = async (read: ReadSettlement, settlement_id: string): Promise<Figures | null> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { status, quote_amount } = await read({ settlement_id }, {});
    if (status !== 'authorized')
      return { chargedMicro: isUnpaid(status) ? '0' : quote_amount, leftMicro: null };
    await pause(PAUSE_MS);
  }
  return null;
};

/** What the vendor says that an ended call of a tab has cost. Null: it does not say so. */
const figuresOfVendor = async (ask: () => Promise<Response>): Promise<Figures | null> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await ask();
    answer.body?.cancel().catch(() => undefined);
    const figures = figuresIn(answer.headers.get(HEADER) ?? '');
    if (figures.chargedMicro !== null) return figures;
    // The end of a call is recorded after its last byte.
    if (answer.status !== 404) return null;
    await pause(PAUSE_MS);
  }
  return null;
};

/**
 * Attaches what an answer has cost. The cost of a stream is known when its caller has read it: of
 * events by their end, of another one by the API, or of a tab by its vendor.
 * @param ask asks the vendor for it
 */
export const withUsage = (
  response: Response,
  record: PaymentRecord,
  { read, ask }: { read: ReadSettlement; ask: () => Promise<Response> },
): Response => {
  const usage = readUsage(record, response);
  if (usage === null) return response;
  usages.set(response, usage);
  if (usage.chargedMicro !== null) return response;
  const end = (figures: Figures | null): void => {
    const known = usages.get(response)!;
    if (figures !== null) usages.set(response, { ...known, ...figures });
  };
  if (!isEventStream(response.headers.get('content-type'))) {
    if (LATER.test(response.headers.get(HEADER) ?? ''))
      return whileRead(response, { end: async () => end(await figuresOfVendor(ask)) });
    if (record.quoteToken === null || isTab(storedClaims(record.quoteToken))) return response;
    return whileRead(response, { end: async () => end(await figuresOfApi(read, usage.settlementId)) });
  }
  const decoder = new TextDecoder();
  let tail = '';
  return whileRead(response, {
    chunk: (bytes) => {
      tail = (tail + decoder.decode(bytes, { stream: true })).slice(-TAIL);
    },
    end: () => end(lastFigures(tail)),
  });
};

/**
 * What an answer of `payingFetch` has cost, as its vendor says: of a stream once it was read.
 * `settlement.get` shows what the vendor has reported. Null if it was not paid by its use.
 */
export const usageOf = (response: Response): Usage | null => usages.get(response) ?? null;
