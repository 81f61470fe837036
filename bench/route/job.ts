import type { Sample } from '../harness/statistics.ts';

/** What a buyer of a side pays with. `secretKey`: Solana's 64 bytes, base64. */
export type BuyerSettings =
  | { protocol: 'quittance'; baseUrl: string; delegateKeys: readonly string[] }
  | { protocol: 'x402'; rpcUrl: string; secretKeys: readonly string[] };

/** What a vendor of a side is paid with. `price` in micro-units. */
export type VendorSettings =
  | {
      protocol: 'quittance';
      baseUrl: string;
      serviceKey: string;
      serviceId: string;
      price: string;
      /** Whether the price is captured after the answer, of a ceiling that is authorized before. */
      metered: boolean;
    }
  | { protocol: 'x402'; facilitatorUrl: string; network: string; payTo: string; price: string };

/** Calls of the vendor's route. */
export type BuyerJob = {
  origin: string;
  /** Callers, each with one open call. They use the buyer's payers in turn. */
  concurrency: number;
  /** No new call begins after this time. */
  seconds: number;
  /** Before each call its caller pauses for a random time up to this maximum. */
  restUpToMs: number;
  /** Whether each call has an address of its own on the route. Otherwise all have the same. */
  ownAddresses: boolean;
  /** Whether a call is timed until its answer begins. Otherwise until the end of its body. */
  untilFirstByte?: boolean;
};

/** `sample` is about the delivered calls. Null: none was delivered. */
export type BuyerOutcome = { sample: Sample | null; failed: number; firstFailure?: string };

/** The body of every delivery. */
export const DELIVERY = { report: 'All is well.' };
