import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../processes/atomic-file.ts';

export type ProviderName = 'moonpay' | 'coinbase';

/** How the sandbox treats one purchase, chosen on its payment page. */
export type Behaviour = {
  /** Delays every webhook. */
  lateMs: number;
  /** Every webhook is sent twice. */
  twice: boolean;
  /** Webhooks are held back until the purchase is over and then sent in reverse order. */
  reversed: boolean;
  /** No webhook is sent: the merchant has to poll. */
  silent: boolean;
  /**
   * `none`: the sandbox reports a transfer that does not exist. `less`: the transfer is a
   * micro-unit short.
   */
  transfer: 'full' | 'none' | 'less';
};

export type PurchaseStatus = 'waiting_payment' | 'waiting_authorization' | 'pending' | 'completed' | 'failed';

/**
 * A purchase on a payment page. Fiat amounts are the text that was received, USDC amounts are
 * micro-units.
 */
export type Purchase = {
  id: string;
  provider: ProviderName;
  /** The merchant's id of the purchase. */
  reference: string;
  wallet: string;
  fiatCurrency: string;
  fiatAmount: string;
  amountMicro: string;
  returnUrl: string | null;
  status: PurchaseStatus;
  failureReason: string | null;
  txHash: string | null;
  /** The signed transfer. It is stored before it is sent, so that a restart does not pay twice. */
  transfer: { wire: string; signature: string; lastValidBlockHeight: number } | null;
  behaviour: Behaviour;
  createdAt: string;
  updatedAt: string;
};

export type Purchases = {
  add: (purchase: Purchase) => void;
  /** Changes a purchase and saves it. */
  change: (purchase: Purchase, changes: Partial<Purchase>) => void;
  find: (id: string) => Purchase | undefined;
  /** Newest first. */
  of: (provider: ProviderName, reference: string) => Purchase[];
  withStatus: (status: PurchaseStatus) => Purchase[];
};

const keep = 1000;

/** Purchases in `<folder>/purchases.json`. */
export const openPurchases = (folder: string): Purchases => {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'purchases.json');
  const list = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Purchase[]) : [];
  const save = () => writeAtomically(file, `${JSON.stringify(list, null, 1)}\n`, 0o600);
  return {
    add: (purchase) => {
      list.push(purchase);
      if (list.length > keep) list.shift();
      save();
    },
    change: (purchase, changes) => {
      Object.assign(purchase, changes, { updatedAt: new Date().toISOString() });
      save();
    },
    find: (id) => list.find((purchase) => purchase.id === id),
    of: (provider, reference) =>
      list.filter((purchase) => purchase.provider === provider && purchase.reference === reference).reverse(),
    withStatus: (status) => list.filter((purchase) => purchase.status === status),
  };
};

/** The price list of both sandboxes: a dollar, euro or pound buys one USDC, less 3 %. */
export const usdcFor = (fiatAmount: string): bigint => {
  const [whole = '0', cents = ''] = fiatAmount.split('.');
  return (BigInt(whole + cents.slice(0, 2).padEnd(2, '0')) * 10_000n * 97n) / 100n;
};
