/** How a buyer pays. `metered` authorizes a ceiling, and pays what the answer names. */
export const KINDS = ['quittance', 'x402', 'mpp', 'metered'] as const;
export type Kind = (typeof KINDS)[number];

/** The steps of a request that the API behind the gate reports. */
export const STEPS = ['asked', 'working', 'first byte', 'last byte'] as const;
export type Step = (typeof STEPS)[number];

/**
 * When a process is killed in a purchase: before or after the gate's nth message to the payment API
 * or its store, or at a step of the API behind it.
 */
export type Point =
  | { at: number; when: 'before' | 'after'; victim: 'gate' }
  | { at: Step; victim: 'gate' | 'upstream' };

export const pointName = (point: Point): string =>
  'when' in point
    ? `gate killed ${point.when} message ${point.at}`
    : `${point.victim} killed at ${point.at === 'asked' ? 'the request' : point.at}`;

/** What a buyer wants once. */
export type Purchase = {
  kind: Kind;
  /** The owner of the wallet that pays. */
  buyer: string;
  path: string;
  resource: string;
  point: Point | null;
  /** What the message was at which the gate was killed, or the step. Null: it was not reached. */
  killedAt: string | null;
  /** Its payment was presented. */
  isPresented: boolean;
  from: number;
  to: number;
  /** The messages of signed payments. */
  hashes: string[];
  /** `wrong`: answered with other bytes. */
  outcome: 'open' | 'goods' | 'refused' | 'wrong';
  answers: string[];
  /** The ids of the deliveries that the API has seen. */
  deliveries: Set<string>;
  runs: number;
};

type GateLog = { purchases: Purchase[] };
export const createGateLog = (): GateLog => ({ purchases: [] });

export const begin = (
  log: GateLog,
  { kind, buyer, origin, point }: { kind: Kind; buyer: string; origin: string; point: Point | null },
): Purchase => {
  const path = `/${kind === 'metered' ? 'metered' : 'goods'}/${kind}/${log.purchases.length + 1}`;
  const purchase: Purchase = {
    ...{ kind, buyer, path, resource: `${origin}${path}`, point, killedAt: null, isPresented: false },
    ...{ from: Date.now(), to: Date.now(), hashes: [], outcome: 'open', answers: [] },
    ...{ deliveries: new Set<string>(), runs: 0 },
  };
  log.purchases.push(purchase);
  return purchase;
};
