import type { Consumer, Quote, Vendor } from '../../../deploy/local/seed/actors.ts';
import type { Approval } from '../../support/actors/owner.ts';
import { NOT_LISTED, type Refusal, refusalIn } from '../../support/rules/refusals.ts';

/**
 * The calls of the clients and their answers, recorded independently of the system. The invariants
 * compare the chain and the databases with it.
 */
export type Asked = {
  askedAt: number;
  at: number;
  /** Null: no answer arrived, for the reason in `body`. */
  status: number | null;
  body: unknown;
};

export type Answer = Asked & { how: 'settle' | 'find' };
type Redeem = Asked & { redeemId: string };

/** A call of any client. It is answered (null: no answer arrived) or still running. */
export type Call = { what: string; askedAt: number; at: number | null; status: number | null; body: unknown };

/**
 * An attempt's state as its client sees it. `open`: it may have moved money or still may. `refused`
 * and `failed`: the answer was that nothing moved. `named`: the answer named the settlement of its
 * account that the quote or the id belongs to. `unknown`: there is no such settlement, by a query
 * with the id alone.
 */
type AttemptOutcome = 'open' | 'paid' | 'refused' | 'failed' | 'named' | 'unknown';

/** Repeats and rival calls that clients send in addition. Each kind is counted. */
const HEDGES = [
  'copies at once',
  'a limit that fits once',
  'a first payment',
  'another delegate',
  'a second id',
  'another quote',
  'after a refusal',
] as const;
export type Hedge = (typeof HEDGES)[number];

export type Attempt = {
  id: string;
  /** The id is that of an attempt of the same account, by another delegate or on another quote. */
  isBorrowed: boolean;
  /** Codes of refusals that can have no other reason than the attempt's acceptance. */
  causedByItself: readonly string[];
  payer: Consumer;
  /** The delegate that pays for the payer; null: the payer itself. */
  key: string | null;
  vendor: Vendor;
  quote: Quote;
  answers: Answer[];
  /** The calls to settle that are under way. */
  asking: number;
  redeems: Redeem[];
  outcome: AttemptOutcome;
  /** The settlement of its first answer. */
  settlementId: string | null;
  token: string | null;
};

/** A decision that an owner sent, with what it had read of the payment, and its answer. */
export type Decision = Asked & { wants: 'approve' | 'deny'; attempt: Attempt; shown: Approval };

/** A refund that a vendor began, under one idempotency key, and all answers about it. */
export type Refund = {
  attempt: Attempt;
  key: string;
  /** Null: everything that is left. */
  wanted: string | null;
  created: Asked[];
  submitted: Asked[];
  cancelled: Asked[];
  /** Whether the vendor knows that nothing happens to it any more. */
  isOver: boolean;
};

/** One delivery on a prepaid settlement, counted under its id, and all answers about it. */
export type Delivery = { attempt: Attempt; requestId: string; units: number; answers: Asked[] };

/** A refusal with the attempt that got it. */
type CampaignRefusal = Refusal & { attempt: Attempt };

export type ClientLog = ReturnType<typeof createClientLog>;

type Body = {
  status?: string;
  settlement_id?: string;
  settlement_token?: string;
  tx_hash?: string | null;
  error?: {
    code: string;
    money_moved?: string;
    safe_action?: string;
    settlement_id?: string;
    approval_id?: string;
  };
};
export const bodyOf = ({ body }: { body: unknown }): Body => (body ?? {}) as Body;

/**
 * What an answer to settle, or a settlement that was read, decides about the attempt for good; null
 * when the client has to ask again.
 */
const outcomeIn = (answer: Answer): Exclude<AttemptOutcome, 'open' | 'unknown'> | null => {
  const { status } = answer;
  const { error, status: lifecycle } = bodyOf(answer);
  if (status === 200) return lifecycle === 'failed' ? 'failed' : lifecycle === 'pending' ? null : 'paid';
  if (status === null || status >= 500) return null;
  if (error?.safe_action === 'read_settlement') return 'named';
  if (error?.money_moved !== 'no') return null;
  return error.code === 'payment_failed' ? 'failed' : 'refused';
};

export const createClientLog = () => {
  const attempts: Attempt[] = [];
  const paid: Attempt[] = [];
  let answers = 0;
  const calls = new Set<Call>();
  const outcomes = new Map<string, number>();
  const refusals: CampaignRefusal[] = [];
  const hedged = Object.fromEntries(HEDGES.map((kind) => [kind, 0])) as Record<Hedge, number>;

  const recordRefusal = (attempt: Attempt, { askedAt, at, how, status, body }: Answer): void => {
    const isEmpty = how === 'find' && status === 200 && body === null;
    const said = isEmpty
      ? { code: NOT_LISTED, moneyMoved: 'no', safeAction: undefined, settlementId: undefined }
      : refusalIn(body);
    if (said === null) return;
    const { payer, id: attemptId, quote, causedByItself } = attempt;
    const accountId = payer.signIn.account.account_id;
    const quoteId = quote.quote_id;
    refusals.push({ attempt, accountId, attemptId, quoteId, causedByItself, askedAt, at, ...said });
  };
  return {
    /** All calls whose answer was 500 or above, or that have none. */
    calls,
    /** How many calls got each answer: `settle 200`, `quote service_unavailable`. */
    outcomes,
    /** All refusals that clients got. */
    refusals,
    /** How often each kind of additional call was sent. */
    hedged,
    hedge: (kind: Hedge): void => {
      hedged[kind] += 1;
    },
    ask: (what: string): Call => {
      const call: Call = { what, askedAt: Date.now(), at: null, status: null, body: undefined };
      calls.add(call);
      return call;
    },
    answered: (call: Call, status: number | null, body: unknown): void => {
      Object.assign(call, { at: Date.now(), status, body });
      const outcome = `${call.what} ${bodyOf({ body }).error?.code ?? status}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      // Calls with a good answer are not stored, because there are many.
      if (status !== null && status < 500) calls.delete(call);
    },
    attempts,
    /** What owners decided about payments of their agents. */
    decisions: [] as Decision[],
    /** The refunds that vendors began. */
    refunds: [] as Refund[],
    /** The deliveries that vendors wanted to count. */
    deliveries: [] as Delivery[],
    /** In the order of their redemption. A fork can still remove the newest ones. */
    redeemed: [] as Attempt[],
    counts: () => ({ attempts: attempts.length, paid: paid.length, answers }),
    begin: (
      payer: Consumer,
      vendor: Vendor,
      quote: Quote,
      {
        key = null,
        id,
        causedByItself = [],
      }: { key?: string | null; id?: string; causedByItself?: readonly string[] } = {},
    ): Attempt => {
      const attempt: Attempt = {
        id: id ?? crypto.randomUUID(),
        isBorrowed: id !== undefined,
        causedByItself,
        payer,
        key,
        vendor,
        quote,
        answers: [],
        asking: 0,
        redeems: [],
        outcome: 'open',
        settlementId: null,
        token: null,
      };
      attempts.push(attempt);
      return attempt;
    },
    /** Records an answer and derives the attempt's state from it. */
    recordAnswer: (attempt: Attempt, answer: Answer): void => {
      answers += 1;
      recordRefusal(attempt, answer);
      // A list without the settlement is recorded as a refusal and decides nothing else.
      if (answer.body === null) return;
      attempt.answers.push(answer);
      const { settlement_id, settlement_token } = bodyOf(answer);
      attempt.settlementId ??= settlement_id ?? null;
      attempt.token ??= settlement_token ?? null;
      const found = outcomeIn(answer);
      // A concurrent copy of the call may have been accepted a moment later, so only a refusal of a
      // single call is final.
      const beside = attempt.answers.some((other) => outcomeIn(other) === null && other.at > answer.askedAt);
      if (found === 'refused' && (attempt.asking > 0 || beside)) return;
      if (found === null || attempt.outcome === 'paid') return;
      attempt.outcome = found;
      if (found === 'paid') paid.push(attempt);
    },
  };
};

/** From the first call to the last answer. */
export const spanOf = ({ answers, redeems }: Attempt): [from: number, to: number] => {
  const all = [...answers, ...redeems];
  return [Math.min(...all.map(({ askedAt }) => askedAt)), Math.max(...all.map(({ at }) => at))];
};
