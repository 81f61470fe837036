/**
 * What an installation is asked to carry. Rates and shares of lamports and money are numbers here
 * and not bigint: this is a plan, and no payment is made of it.
 */
export type Load = {
  /** Payments of quotes a second. */
  settles: number;
  /** Calls of tabs a second. */
  uses: number;
  /** Payments of x402 and MPP clients a second. */
  x402: number;
  /** USDC, of a payment of a quote or of x402. */
  price: number;
  /** USDC, of a use. */
  usePrice: number;
  usesPerReport: number;
  usesPerCapture: number;
  vendors: number;
  payers: number;
  newPayersPerDay: number;
  newVendorsPerDay: number;
  /** How long the load goes on. */
  days: number;
  /** Calls a second that the plan of each RPC provider allows; null: not bounded. */
  rpcPlan: number | null;
  providers: number;
  /** The factors by which an operator has raised the limits of a vendor's and a payer's account. */
  vendorFactor: number;
  payerFactor: number;
};

export const DEFAULT_LOAD: Load = {
  settles: 0,
  uses: 0,
  x402: 0,
  price: 0.05,
  usePrice: 0.0001,
  usesPerReport: 10,
  usesPerCapture: 1000,
  vendors: 1,
  payers: 10_000,
  newPayersPerDay: 0,
  newVendorsPerDay: 0,
  days: 1,
  rpcPlan: null,
  providers: 2,
  vendorFactor: 1,
  payerFactor: 1,
};

/** Why a load cannot be meant; null: it can. */
export const refusalOf = (load: Load): string | null => {
  const atLeast: Partial<Record<keyof Load, number>> = {
    usesPerReport: 1,
    usesPerCapture: 1,
    vendors: 1,
    payers: 1,
    providers: 1,
    vendorFactor: 1,
    payerFactor: 1,
  };
  for (const [name, value] of Object.entries(load) as [keyof Load, number | null][]) {
    if (value === null) continue;
    if (!Number.isFinite(value) || value < 0) return `${name} must be 0 or more`;
    if (value < (atLeast[name] ?? 0)) return `${name} must be at least ${atLeast[name]}`;
  }
  if (load.days === 0) return 'days must be above 0';
  if ((load.settles > 0 || load.x402 > 0) && load.price === 0) return 'price must be above 0';
  if (load.uses > 0 && load.usePrice === 0) return 'usePrice must be above 0';
  if (load.vendorFactor > 1000 || load.payerFactor > 1000)
    return 'an operator multiplies the limits of an account by 1000 at most';
  return null;
};

/** Captures a second. Each is a settle, whose authorization was a settle of the API before. */
export const captures = ({ uses, usesPerCapture }: Load): number => uses / usesPerCapture;
/** Transactions that the platform signs a second. */
export const settled = (load: Load): number => load.settles + captures(load);
/** Reports of uses a second, each a row. */
export const reports = ({ uses, usesPerReport }: Load): number => uses / usesPerReport;
/** USDC of one capture. */
export const captured = ({ usePrice, usesPerCapture }: Load): number => usePrice * usesPerCapture;
/** Micro-units a second that quotes move. */
export const microPerSecond = (load: Load): number =>
  1e6 * (load.settles * load.price + load.uses * load.usePrice);

/** The same mix, so many times as large. */
export const scaled = (load: Load, by: number): Load => ({
  ...load,
  settles: load.settles * by,
  uses: load.uses * by,
  x402: load.x402 * by,
  newPayersPerDay: load.newPayersPerDay * by,
  newVendorsPerDay: load.newVendorsPerDay * by,
});
