import { setTimeout as sleep } from 'node:timers/promises';

/** A provider with a fault may never answer a buyer that asks it for a blockhash. */
const SIGNED_MS = 5000;

/** @returns what the client has signed; null if it failed or took too long */
export const signedInTime = <T>(sign: () => Promise<T>): Promise<T | null> =>
  Promise.race([sign(), sleep(SIGNED_MS, null, { ref: false })]).catch(() => null);
