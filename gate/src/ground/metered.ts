import type { IncomingMessage } from 'node:http';
import { type Admission, microOf, typedFault } from '../../../sdk/src/paywall/adapter.ts';
import { type MeteredResult, MeterStoppedError } from '../../../sdk/src/paywall/main.ts';

/** Metered routes: what a call costs by the answer of the upstream (docs/guides/metered.md). */

type Delivery = Extract<Admission, { kind: 'deliver' }>;

/** How an answer shows what its call costs. */
export type AnswerPrice = {
  /** What a call costs besides, in micro-units. */
  base: bigint;
  /** The header or trailer. Null: the price is `base`. */
  header: string | null;
  /** The price of one unit of the header. Null: the header is a price. */
  unitPrice: bigint | null;
};

const UNITS = /^\d{1,15}$/;
const FREE = /^\$?0(\.0+)?( USDC)?$/;

/** The micro-units that a header names. @throws TypeError with a sentence */
const microIn = (value: string, { header, unitPrice }: AnswerPrice): bigint => {
  if (unitPrice !== null) {
    if (UNITS.test(value)) return BigInt(value) * unitPrice;
    throw new TypeError(`the header ${header} of the answer is no number of units: '${value}'`);
  }
  if (FREE.test(value)) return 0n;
  const fault = typedFault(value);
  if (fault !== null) throw new TypeError(`the header ${header} of the answer is no price: ${fault}`);
  return microOf(value);
};

const FIRST_ERROR = 400;

/**
 * What a call costs by its whole answer, in micro-units.
 * @throws TypeError if its header is missing or wrong; the call costs nothing then
 */
const priceOfWhole = (price: AnswerPrice, { statusCode, headers, trailers }: IncomingMessage): bigint => {
  const { base, header } = price;
  if (header === null) return base;
  const value = headers[header] ?? trailers[header];
  if (typeof value === 'string') return base + microIn(value.trim(), price);
  if (statusCode! >= FIRST_ERROR) return base;
  throw new TypeError(`the answer has no header ${header}, so the call costs nothing`);
};

/** By request: the answer of the upstream. The price of a route is asked with the request. */
const answers = new WeakMap<IncomingMessage, IncomingMessage>();
export const rememberAnswer = (request: IncomingMessage, answer: IncomingMessage): void => {
  answers.set(request, answer);
};

/** The price of a route whose answers name it, as the paywall asks for it. */
export const priceFunction =
  (price: AnswerPrice) =>
  (_result: MeteredResult, request: IncomingMessage): bigint =>
    priceOfWhole(price, answers.get(request)!);

/** What a call costs by the beginning of its answer. A trailer has not come. */
const priceOfHead = (price: AnswerPrice, { headers }: IncomingMessage): bigint => {
  const value = price.header === null ? undefined : headers[price.header];
  try {
    return price.base + (typeof value === 'string' ? microIn(value.trim(), price) : 0n);
  } catch {
    return 0n;
  }
};

/**
 * Keeps the first part of an answer for a moment. If it is the whole, its header shows what it has
 * cost.
 */
export const createFirstPart = (delivery: Delivery | null, send: (chunk: Buffer) => void) => {
  let held: Buffer | null = null;
  let isFirst = delivery?.metering != null && !delivery.metering.isFixed;
  const release = (): void => {
    if (held === null) return;
    const chunk = held;
    held = null;
    send(chunk);
  };
  return {
    add: (chunk: Buffer): void => {
      if (isFirst) {
        held = chunk;
        setImmediate(release);
      } else {
        release();
        send(chunk);
      }
      isFirst = false;
    },
    /** What is kept at the end of the answer. */
    rest: (): Buffer | null => {
      const chunk = held;
      held = null;
      return chunk;
    },
  };
};

/**
 * Charges for what was delivered of a metered answer that is not whole. A buyer who leaves before
 * the last byte must not have the rest for nothing.
 */
export const charge = ({ metering }: Delivery, price: AnswerPrice, answer: IncomingMessage): void => {
  if (metering === null || !metering.hasBegun() || metering.stopped() !== null) return;
  if (price.header === null) {
    metering.leave();
    return;
  }
  const { meter } = metering;
  const micro = priceOfHead(price, answer);
  try {
    meter.charge(micro < meter.left ? micro : meter.left);
  } catch (error) {
    // The answer was whole, and its price was charged.
    if (!(error instanceof MeterStoppedError)) throw error;
  }
};
