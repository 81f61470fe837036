import { boundedMap } from '../../bounded-map.ts';
import type { Output } from '../../types.ts';

type QuoteStatus = Output<'quote.get'>['status'];
export type ReadStatus = (quoteId: string) => Promise<QuoteStatus>;

/**
 * The pause between two reads of a quote that buyers name. It doubles while the quote is not paid.
 */
const READ_GAP_MS = 1000;
const LONGEST_READ_GAP_MS = 4000;
/**
 * The pause between two reads of one shared quote, and between two reads of any of them.
 */
const RECHECK_MS = 5000;
const RECHECK_ANY_MS = 2000;
/** A payment that takes longer may never be made. Waiting buyers then get the shared quote. */
const STUCK_AFTER_MS = 5000;
const MAX_ENTRIES = 1000;

/** Reads the status of quotes. Reads are few, because anybody can name a quote. */
export const createStatuses = (readStatus: ReadStatus) => {
  type Seen = { at: number; gapMs: number; pendingSince: number | null; answer: Promise<QuoteStatus> };
  const seen = boundedMap<Seen>(MAX_ENTRIES);
  let recheckedAt = 0;

  const statusOf = async (quoteId: string): Promise<{ status: QuoteStatus; isStuck: boolean }> => {
    const now = Date.now();
    let entry = seen.get(quoteId);
    if (entry === undefined || now - entry.at >= entry.gapMs) {
      const gapMs = entry === undefined ? READ_GAP_MS : Math.min(LONGEST_READ_GAP_MS, entry.gapMs * 2);
      entry = { at: now, gapMs, pendingSince: entry?.pendingSince ?? null, answer: readStatus(quoteId) };
      seen.set(quoteId, entry);
    }
    const status = await entry.answer;
    if (status === 'settling') {
      entry.gapMs = READ_GAP_MS;
      entry.pendingSince ??= now;
    } else entry.pendingSince = null;
    const isStuck = entry.pendingSince !== null && now - entry.pendingSince >= STUCK_AFTER_MS;
    return { status, isStuck };
  };
  /** True if the status of a shared quote is due to be read again. */
  const isDue = (quoteId: string): boolean => {
    const now = Date.now();
    const entry = seen.get(quoteId);
    if (now - recheckedAt < RECHECK_ANY_MS || (entry !== undefined && now - entry.at < RECHECK_MS))
      return false;
    recheckedAt = now;
    return true;
  };
  return { statusOf, isDue };
};
