import type { Pool } from '../../../shared/db/pool.ts';
import type { Network } from '../chain/model/network.ts';
import { decodeMessage, disassemble } from '../transactions/message.ts';
import { isPaused } from './store/settings.ts';
import { countOpenIntents, listOpenMessages, listLiveTransactions } from './store/work.ts';

export type SigningDeps = { pool: Pool; network: Network } & {
  /** What the configuration calls fee payers and delegate authorities, by address. */
  numbers: ReadonlyMap<string, number>;
  /** An account's balance, kept for a while. */
  lamportsOf: (address: string) => Promise<number>;
};

/** How many of the addresses there are of each. */
const tally = (addresses: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const address of addresses) counts.set(address, (counts.get(address) ?? 0) + 1);
  return counts;
};

const feePayerOf = (message: Uint8Array): string => decodeMessage(message).signers[0]!;

/** Whether anything is signed, what is under way, and by which keys: what tells when an old fee payer can go. */
export const getSigningStatus = async ({ pool, network, numbers, lamportsOf }: SigningDeps) => {
  const [paused, open, wires, messages] = await Promise.all([
    isPaused(pool),
    countOpenIntents(pool),
    listLiveTransactions(pool),
    listOpenMessages(pool),
  ]);
  const live = tally(wires.map((wire) => feePayerOf(disassemble(wire).message)));
  const prepared = tally(messages.map(feePayerOf));
  const payers = [...new Set([...network.feePayers, ...live.keys(), ...prepared.keys()])];
  // Not known is said so: a pause must not wait for a provider.
  const lamports = await Promise.all(payers.map((address) => lamportsOf(address).catch(() => null)));
  return {
    paused,
    open: Number(open),
    fee_payers: payers.map((address, at) => ({
      number: numbers.get(address) ?? null,
      address,
      lamports: lamports[at]!,
      live: live.get(address) ?? 0,
      prepared: prepared.get(address) ?? 0,
    })),
    authorities: network.delegateAuthorities.map((address) => ({ number: numbers.get(address)!, address })),
  };
};
