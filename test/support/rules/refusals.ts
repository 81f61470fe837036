/**
 * Compares every refusal that a client got with the final ledger: no answer may make a payer pay
 * twice (docs/faults.md, Refusals). The fault campaign, the races and the simulation share this
 * comparison.
 */
export type Refusal = {
  /** The account that made the call. */
  accountId: string;
  attemptId: string;
  quoteId: string;
  /** When the call was sent and when its answer arrived, epoch milliseconds. */
  askedAt: number;
  at: number;
  code: string;
  moneyMoved: string | undefined;
  safeAction: string | undefined;
  settlementId: string | undefined;
  /**
   * Codes that can have no other reason than the attempt's acceptance: the wallet or limit suffices
   * for it once.
   */
  causedByItself?: readonly string[];
  /** When the call read the records for the last time, if that is known. */
  readAt?: number;
};

/** A settlement of the final ledger. */
export type LedgerRow = {
  settlementId: string;
  accountId: string;
  attemptId: string;
  quoteId: string;
  /** When its acceptance was committed, epoch milliseconds. */
  acceptedAt: number;
  /** When it was proven that no money moved and none will; null: never. */
  failedAt: number | null;
  /** Whether it was ever confirmed. */
  paid: boolean;
};

/** An empty list of settlements by attempt id, which states that the attempt does not exist. */
export const NOT_LISTED = 'not_listed';
/** A code that proves that a settlement of the quote was read. */
const SAW_THE_QUOTE = 'quote_already_settled';
/** Advice after which a client gives up the attempt, or the quote. */
const GIVES_UP = ['new_quote', 'stop'];

const denies = ({ moneyMoved, safeAction }: Refusal): boolean =>
  moneyMoved === 'no' || GIVES_UP.includes(safeAction ?? '');

/** Whether the settlement had not been proven to have failed before the refusal was answered. */
const stoodAtTheEnd = ({ at }: Refusal, { failedAt }: LedgerRow): boolean =>
  failedAt === null || failedAt > at;

/**
 * Whether the settlement existed when the refused call was sent, or last read the records, and
 * until it was answered.
 */
const stoodThroughout = (refusal: Refusal, row: LedgerRow): boolean =>
  row.acceptedAt <= (refusal.readAt ?? refusal.askedAt) && stoodAtTheEnd(refusal, row);

/**
 * Whether the refusal can have no other reason than the settlement, because it was accepted before
 * the refusal was decided.
 */
const restsOn = (refusal: Refusal, row: LedgerRow): boolean =>
  row.acceptedAt <= refusal.at &&
  stoodAtTheEnd(refusal, row) &&
  ((refusal.code === SAW_THE_QUOTE && row.quoteId === refusal.quoteId) ||
    (refusal.causedByItself?.includes(refusal.code) === true && row.attemptId === refusal.attemptId));

const says = ({ code, moneyMoved, safeAction }: Refusal): string =>
  `${code}, money_moved ${moneyMoved ?? '(none)'}, safe_action ${safeAction ?? '(none)'}`;

/** What is untrue about one refusal, as text; null: nothing. */
const untruth = (refusal: Refusal, own: readonly LedgerRow[]): string | null => {
  const { settlementId, moneyMoved, safeAction, code } = refusal;
  const matching = own.find((row) => stoodThroughout(refusal, row) || restsOn(refusal, row));
  if (denies(refusal) && matching !== undefined)
    return `${says(refusal)}, while ${matching.settlementId} was accepted ${refusal.at - matching.acceptedAt} ms before`;
  if (moneyMoved === 'yes' && !own.some(({ paid }) => paid)) return `${says(refusal)}, and nothing was paid`;
  if (settlementId !== undefined && !own.some((row) => row.settlementId === settlementId))
    return `${says(refusal)}, names ${settlementId}, which is not of this attempt or quote`;
  if (safeAction === 'read_settlement' && settlementId === undefined)
    return `${says(refusal)}, and names no settlement to read`;
  if (code === SAW_THE_QUOTE && matching !== undefined && settlementId === undefined)
    return `${says(refusal)}, and does not name ${matching.settlementId} of the same account`;
  return null;
};

type Untrue<R extends Refusal> = { refusal: R; what: string };

/** The refusals that the final ledger proves untrue. */
export const untrueRefusals = <R extends Refusal>(
  refusals: readonly R[],
  ledger: readonly LedgerRow[],
): Untrue<R>[] => {
  const rowsBy = new Map<string, LedgerRow[]>();
  const key = (kind: string, accountId: string, id: string) => `${kind} ${accountId} ${id}`;
  for (const row of ledger)
    for (const place of [
      key('attempt', row.accountId, row.attemptId),
      key('quote', row.accountId, row.quoteId),
    ])
      rowsBy.set(place, [...(rowsBy.get(place) ?? []), row]);
  return refusals.flatMap((refusal) => {
    const { accountId, attemptId, quoteId, code } = refusal;
    const own = [
      ...(rowsBy.get(key('attempt', accountId, attemptId)) ?? []),
      // A list by attempt id contains no other attempts of the quote.
      ...((code === NOT_LISTED ? null : rowsBy.get(key('quote', accountId, quoteId))) ?? []),
    ];
    const what = untruth(refusal, own);
    return what === null ? [] : [{ refusal, what }];
  });
};

/**
 * A refusal of x402 or MPP in this comparison: the signed message is the attempt and the quote, and
 * the vendor's account makes the call.
 */
export const ofMessage = (
  { accountId, hash }: { accountId: string; hash: string },
  said: Pick<Refusal, 'askedAt' | 'at' | 'code' | 'moneyMoved'>,
): Refusal => ({
  ...said,
  accountId,
  attemptId: hash,
  quoteId: hash,
  safeAction: undefined,
  settlementId: undefined,
});

type ErrorBody = {
  error?: { code: string; money_moved?: string; safe_action?: string; settlement_id?: string };
};

/** What an error's body states about the money. */
export const refusalIn = (
  body: unknown,
): Pick<Refusal, 'code' | 'moneyMoved' | 'safeAction' | 'settlementId'> | null => {
  const { error } = (body ?? {}) as ErrorBody;
  if (error === undefined) return null;
  const { code, money_moved, safe_action, settlement_id } = error;
  return { code, moneyMoved: money_moved, safeAction: safe_action, settlementId: settlement_id };
};
