/**
 * What is left of a price, by each way to be paid. The calculator of the documentation and the
 * table beside it use it. All amounts are micro-units.
 */
import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { type FeeRule, feeMicro } from '../../../../shared/lib/money/fee.ts';

/** `x402` has the share and the least fee of a usual transaction. */
export type Fees = { quote: FeeRule; x402: FeeRule };
export type Sales = { priceMicro: bigint; calls: bigint; buyers: bigint };
export type Way = {
  name: string;
  /** The line of the paywall. */
  code: string;
  /** Payments in the month. */
  payments: bigint;
  feeMicro: bigint;
  /** Null: this way cannot be used for the price, and `note` says why. */
  netMicro: bigint | null;
  note: string;
};

/** How many requests a pack has. */
const PACK_UNITS = 100n;
const USDC = 1_000_000n;

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const shares = (whole: bigint, part: bigint): bigint => (whole + part - 1n) / part;

/** A ceiling of a hundred calls, but no tab smaller than 1 USDC or larger than 50 USDC. */
const ceilingOf = (priceMicro: bigint): bigint =>
  most(priceMicro, least(50n * USDC, most(USDC, priceMicro * 100n)));

/** The four ways for one month. Each buyer makes the same number of calls. */
export const waysOf = ({ priceMicro, calls, buyers }: Sales, fees: Fees): Way[] => {
  const payers = most(1n, least(buyers, calls));
  const callsOfOne = shares(calls, payers);
  const gross = priceMicro * calls;
  const price = `$${plainUsdc(priceMicro)}`;
  const ceiling = ceilingOf(priceMicro);
  const packPrice = priceMicro * PACK_UNITS;

  const quoteFee = feeMicro(priceMicro, fees.quote);
  const x402Fee = feeMicro(priceMicro, fees.x402);
  const packs = payers * shares(callsOfOne, PACK_UNITS);
  const packFee = feeMicro(packPrice, fees.quote);
  const sellsPacks = callsOfOne >= PACK_UNITS;

  const useOfOne = priceMicro * callsOfOne;
  const fullTabs = useOfOne / ceiling;
  const lastTab = useOfOne % ceiling;
  const lastFee = feeMicro(lastTab, fees.quote);
  const paysLast = lastTab > lastFee;
  const tabs = payers * (fullTabs + (paysLast ? 1n : 0n));
  const tabFee = payers * (fullTabs * feeMicro(ceiling, fees.quote) + (paysLast ? lastFee : 0n));
  const lost = paysLast ? 0n : payers * lastTab;

  return [
    {
      name: 'Quote for each call',
      code: `paid(paywall, { price: '${price}' })`,
      payments: calls,
      feeMicro: quoteFee * calls,
      netMicro: priceMicro > quoteFee ? gross - quoteFee * calls : null,
      note: priceMicro > quoteFee ? '' : `a price must exceed its fee of ${plainUsdc(quoteFee)} USDC`,
    },
    {
      name: 'x402',
      code: `dialects: [x402({ secret })]`,
      payments: calls,
      feeMicro: x402Fee * calls,
      netMicro: priceMicro > x402Fee ? gross - x402Fee * calls : null,
      note:
        priceMicro > x402Fee
          ? 'billed later'
          : `the fee of ${plainUsdc(x402Fee)} USDC is no less than the price`,
    },
    {
      name: `Pack of ${PACK_UNITS} calls`,
      code: `paid(paywall, { price: '$${plainUsdc(packPrice)}', prepaid: { units: ${PACK_UNITS} } })`,
      payments: packs,
      feeMicro: packFee * packs,
      // What a buyer pays for and does not use is not counted, because no month repeats it.
      netMicro: sellsPacks && gross > packFee * packs ? gross - packFee * packs : null,
      note: sellsPacks
        ? `one payment of ${plainUsdc(packPrice)} USDC, before the calls`
        : `a buyer makes fewer than ${PACK_UNITS} calls`,
    },
    {
      name: 'Tab',
      code: `paid(paywall, { max: '$${plainUsdc(ceiling)}', price: '${price}', tab: { extend: true } })`,
      payments: tabs,
      feeMicro: tabFee,
      netMicro: tabs > 0n ? gross - tabFee - lost : null,
      note:
        tabs > 0n
          ? `paid by use, up to ${plainUsdc(ceiling)} USDC in one transfer`
          : `a buyer uses no more than the fee of ${plainUsdc(lastFee)} USDC, which pays nothing`,
    },
  ];
};

/** The way that leaves the most. Null: none can be used. */
export const bestOf = (ways: readonly Way[]): Way | null =>
  ways.reduce<Way | null>(
    (best, way) => (way.netMicro !== null && (best?.netMicro ?? -1n) < way.netMicro ? way : best),
    null,
  );
