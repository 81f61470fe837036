/**
 * What a provider can invent. `error`: every transaction failed for good. `confirmation`: every
 * transaction is final, also those that never reached the chain. `slot`: state of a slot that is
 * years ahead. `signature`: the state of another transaction than the one in the request.
 * `blockhash`: a true blockhash, and heights at which its bytes would expire much too early.
 */
export const LIES = ['error', 'confirmation', 'slot', 'signature', 'blockhash'] as const;
export type Lie = (typeof LIES)[number];

type Call = { method: string; params?: unknown[] };
type Context = { context: { slot: number } };
type Statuses = Context & { value: (object | null)[] };

export const INVENTED_SLOT = 1_000_000_000;
/** By so many blocks the heights of the lie `blockhash` are too low. */
const LEAST_TOO_LOW = 10;
const MOST_TOO_LOW = 300;
const REFUSED = { InstructionError: [0, { Custom: 1 }] };

/** A status as getSignatureStatuses returns it. */
const status = (slot: number, err: object | null) => ({
  slot,
  confirmations: null,
  err,
  status: err === null ? { Ok: null } : { Err: err },
  confirmationStatus: 'finalized',
});

/** A transaction as one that failed. */
const refused = (honest: { meta: object }) => ({
  ...honest,
  meta: { ...honest.meta, err: REFUSED, postTokenBalances: [], preTokenBalances: [] },
});

/** Turns honest results into lies. It stores the results that it confuses. */
export const createLiar = () => {
  /** The last true answer about a transaction, by method. */
  const known = new Map<string, { signature: string; answer: object }>();

  let heights = 0;

  /**
   * A height that is too low, by other blocks each time. What decides when bytes have expired is
   * true: the finalized height, and whether a blockhash is valid.
   */
  const ofHeights = (
    { method, params = [] }: Call,
    honest: unknown,
    tooLowBy: number | undefined,
  ): unknown => {
    const blocks = tooLowBy ?? LEAST_TOO_LOW + ((heights++ * 113) % (MOST_TOO_LOW - LEAST_TOO_LOW + 1));
    if (method === 'getLatestBlockhash') {
      const { value, ...rest } = honest as Context & { value: { lastValidBlockHeight: number } };
      return { ...rest, value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight - blocks } };
    }
    const isFinalized = (params[0] as { commitment?: string } | undefined)?.commitment === 'finalized';
    return method === 'getBlockHeight' && !isFinalized ? Number(honest) - blocks : honest;
  };

  /** Its answer about another transaction, if it has one. */
  const mixedUp = (method: string, signature: string, answer: object | null): object | null => {
    const other = known.get(method);
    if (answer !== null) known.set(method, { signature, answer });
    return other !== undefined && other.signature !== signature ? other.answer : answer;
  };

  const ofStatuses = (lie: Lie, signatures: readonly string[], honest: Statuses): Statuses => {
    const { slot } = honest.context;
    const value = honest.value.map((one, index) => {
      if (lie === 'error') return status(slot, REFUSED);
      if (lie === 'confirmation') return status(slot, null);
      return mixedUp('getSignatureStatuses', signatures[index]!, one);
    });
    return { ...honest, value };
  };

  const ofTransaction = (lie: Lie, signature: string, honest: { meta: object } | null): object | null => {
    if (lie === 'signature') return mixedUp('getTransaction', signature, honest);
    return lie === 'error' && honest !== null ? refused(honest) : honest;
  };

  const ofBlock = (
    lie: Lie,
    slot: number,
    honest: { transactions: { meta: object }[] } | null,
  ): object | null => {
    if (lie === 'signature') return mixedUp('getBlock', `${slot}`, honest);
    if (lie !== 'error' || honest === null) return honest;
    return { ...honest, transactions: honest.transactions.map(refused) };
  };

  return {
    /**
     * What it answers instead of an honest result.
     * @param tooLowBy the blocks of the lie `blockhash`, by default 10 to 300
     */
    answer: (lie: Lie, call: Call, honest: unknown, tooLowBy?: number): unknown => {
      const { method, params = [] } = call;
      if (lie === 'blockhash') return ofHeights(call, honest, tooLowBy);
      if (lie === 'slot') {
        const inContext = honest as Partial<Context> | null;
        if (method === 'getSlot') return INVENTED_SLOT;
        return inContext?.context === undefined ? honest : { ...inContext, context: { slot: INVENTED_SLOT } };
      }
      if (method === 'getSignatureStatuses')
        return ofStatuses(lie, params[0] as string[], honest as Statuses);
      if (method === 'getBlock')
        return ofBlock(lie, params[0] as number, honest as { transactions: { meta: object }[] } | null);
      return method === 'getTransaction'
        ? ofTransaction(lie, params[0] as string, honest as { meta: object } | null)
        : honest;
    },
  };
};
