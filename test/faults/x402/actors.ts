import path from 'node:path';
import type { Keypair } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { interopStack } from '../../support/others/interop-stack.ts';
import { createX402Buyer } from '../../support/others/x402.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Harness } from '../harness.ts';
import type { Log, Vendor } from './log.ts';
import { createVendor } from './vendor.ts';

export const PRICE = 50_000n;
/** No vendor that pays its fees asks for more. */
export const MOST_PRICE = 2n * PRICE;
/** Five sales use up the credit of an account that never paid. */
const DEBTORS_PRICE = 4_000_000n;
const BALANCE = 1_000_000_000n;

export type Buyer = {
  address: string;
  isPoor: boolean;
  sign: (requirements: PaymentRequirements) => Promise<PaymentPayload>;
};
export type Actors = {
  /** All of them, the debtor too. */
  vendors: Vendor[];
  /** The vendors that pay their fees. */
  payers: Vendor[];
  /** A vendor that never pays its fees. */
  debtor: Vendor;
  buyers: Buyer[];
  /** A buyer whose account never paid. */
  newBuyer: (balance: bigint) => Promise<{ keypair: Keypair; buyer: Buyer }>;
};

/** Signs all clients up before the faults begin. */
export const createActors = async (
  harness: Harness,
  log: Log,
  counts: { vendors: number; buyers: number; poor: number; poorBalance: bigint },
): Promise<Actors> => {
  const { stack, stateDir } = harness;
  const { chain } = interopStack(stack, path.resolve(stateDir));
  const buyerOf = async (keypair: Keypair, isPoor: boolean): Promise<Buyer> => ({
    address: keypair.publicKey.toBase58(),
    isPoor,
    sign: await createX402Buyer(keypair, chain.rpcUrl),
  });
  const newBuyer = async (balance: bigint, isPoor = false) => {
    const { keypair } = await chain.wallet(balance);
    return { keypair, buyer: await buyerOf(keypair, isPoor) };
  };
  const createBuyer = async (at: number): Promise<Buyer> => {
    const isPoor = at < counts.poor;
    return (await newBuyer(isPoor ? counts.poorBalance : BALANCE, isPoor)).buyer;
  };
  const payers = await atOnce(counts.vendors, () =>
    createVendor(harness, log, { chain, price: PRICE, isPaying: true }),
  );
  const debtor = await createVendor(harness, log, { chain, price: DEBTORS_PRICE, isPaying: false });
  return {
    vendors: [...payers, debtor],
    payers,
    debtor,
    newBuyer,
    buyers: await atOnce(counts.buyers, createBuyer),
  };
};
