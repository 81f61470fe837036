import { type MeteredAmount, type MeteredBill, type MeteredResult, microOfMetered } from './metered-route.ts';

/**
 * Why no more can be charged. used_up: the call has reached what it may cost. at_risk: the buyer's
 * wallet no longer covers the authorization. closed: it has ended. gone: its buyer has left.
 */
export type StopReason = 'used_up' | 'at_risk' | 'closed' | 'gone';

/** The call cannot be charged for more, so nothing more must be delivered for it. */
export class MeterStoppedError extends Error {
  override readonly name: string = 'MeterStoppedError';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The call cannot be charged for more (${reason}), so deliver nothing more for it.`);
    this.reason = reason;
  }
}

/** What a call of a metered route costs, for its handler. */
export type Meter = {
  /**
   * Adds to what the call costs. Charge before you deliver.
   * @throws MeterStoppedError if it is more than is left, or the authorization has ended. Nothing
   *   is charged then
   */
  charge: (amount: MeteredAmount) => void;
  /** What was charged, in micro-units. */
  readonly charged: bigint;
  /** What can still be charged for this call, in micro-units. */
  readonly left: bigint;
  /** Aborted with a MeterStoppedError when no more can be charged. */
  readonly signal: AbortSignal;
};

/** The header that shows what a call has cost. */
export const USAGE_HEADER = 'quittance-usage';

/** In the place of a cost that the buyer of a tab can ask for when the answer has ended. */
const LATER = 'later';

/** What a paywall does with the meter of a call. */
export type Metering = {
  meter: Meter;
  /** False: the price is known only at the end. */
  isFixed: boolean;
  /** The first byte of a delivery goes out. From here on what is charged is owed. */
  begin: () => void;
  hasBegun: () => boolean;
  /** Whether the first byte went out before its cost was known, so its header has no cost. */
  isLate: () => boolean;
  /** Asks the price of the finished answer. Only the first call counts. Never throws. */
  conclude: (result: MeteredResult) => Promise<void>;
  /** The call ends after its first byte without an end of its answer: a fixed price is owed. */
  leave: () => void;
  /** The call costs nothing. */
  drop: () => void;
  stop: (reason: StopReason) => void;
  stopped: () => StopReason | null;
  /** What the header says, as far as it is known. */
  usage: () => string;
  /** What the call did not use of what it had taken. */
  unused: () => bigint;
  /** Reports a mistake of the vendor. */
  fault: (error: unknown) => void;
};

type MeteringInput = {
  authorization: { add: (amountMicro: bigint) => void };
  bill: MeteredBill;
  /** What this call can cost. */
  most: bigint;
  /** What was reported for an earlier run of this call, which is not reported again. */
  credit: bigint;
  /** What is left of the authorization besides. Null: it serves one call. */
  leftBesides: bigint | null;
  onFault: (error: unknown) => void;
};

/** What a call costs, and what of it is reported. */
const createCost = ({ authorization, bill, most, credit, onFault }: MeteringInput) => {
  let charged = 0n;
  let reported = 0n;
  let hasBegun = false;
  const report = (): void => {
    const owed = charged > credit ? charged - credit : 0n;
    if (!hasBegun || owed === reported) return;
    authorization.add(owed - reported);
    reported = owed;
  };
  const add = (micro: bigint): void => {
    charged += micro;
    report();
  };
  return {
    charged: () => charged,
    left: () => most - charged,
    add,
    /** Adds a price that is asked when everything is delivered, so it is cut to what is left. */
    addLast: (micro: bigint): void => {
      const left = most - charged;
      if (micro > left)
        onFault(
          new TypeError(`price: a call costs ${micro} micro-units, and ${left} are left of what it may cost`),
        );
      add(micro > left ? left : micro);
    },
    begin: (): void => {
      hasBegun = true;
      report();
    },
    hasBegun: () => hasBegun,
    drop: (): void => {
      charged = 0n;
    },
    /** The micro-units of a charge. @throws TypeError if the handler may not charge it */
    microOf: (amount: MeteredAmount): bigint => {
      const micro = microOfMetered(amount, bill.unitPrice);
      if (bill.fixed !== null && micro > 0n)
        throw new TypeError('charge: the route has a fixed price; set tab.perCall to charge more than that');
      return micro;
    },
  };
};

/** Measures one call. */
export const createMetering = (input: MeteringInput): Metering => {
  const { bill, most, credit, leftBesides, onFault } = input;
  const cost = createCost(input);
  const controller = new AbortController();
  let isConcluded = false;
  let stopped: StopReason | null = null;
  let isLate = false;
  const isKnown = (): boolean => isConcluded || stopped !== null || bill.fixed !== null;
  const stop = (reason: StopReason): void => {
    if (stopped !== null || isConcluded) return;
    stopped = reason;
    controller.abort(new MeterStoppedError(reason));
  };

  return {
    meter: {
      charge: (amount) => {
        const micro = cost.microOf(amount);
        if (stopped === null && micro > cost.left()) stop('used_up');
        if (stopped !== null) throw new MeterStoppedError(stopped);
        if (isConcluded) throw new MeterStoppedError('closed');
        cost.add(micro);
      },
      get charged() {
        return cost.charged();
      },
      get left() {
        return cost.left();
      },
      signal: controller.signal,
    },
    isFixed: bill.fixed !== null,
    begin: () => {
      if (!cost.hasBegun()) isLate = !isKnown();
      cost.begin();
    },
    hasBegun: cost.hasBegun,
    isLate: () => isLate,
    conclude: async (result) => {
      if (isConcluded) return;
      isConcluded = true;
      try {
        cost.addLast(bill.fixed ?? microOfMetered(await bill.priceOf(result), bill.unitPrice));
      } catch (error) {
        onFault(error);
      }
    },
    leave: () => {
      if (isConcluded) return;
      isConcluded = true;
      if (bill.price !== null) cost.addLast(bill.price);
    },
    drop: () => {
      isConcluded = true;
      cost.drop();
    },
    stop,
    stopped: () => stopped,
    usage: () => {
      const known = isConcluded || stopped !== null ? cost.charged() : bill.fixed;
      const parts: string[] = [];
      if (known !== null) parts.push(`charged=${known > credit ? known - credit : 0n}`);
      else if (leftBesides !== null) parts.push(`charged=${LATER}`);
      if (leftBesides !== null) parts.push(`left=${leftBesides + most - (known ?? most)}`);
      return parts.join(', ');
    },
    unused: cost.left,
    fault: onFault,
  };
};
