import type { Pool } from '../../../shared/db/pool.ts';
import { disassemble } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Network } from '../ledger/model/network.ts';
import { countOpen } from '../ledger/store/intents.ts';
import { listOpenMessages } from '../ledger/store/preparations.ts';
import { isPaused } from '../ledger/store/settings.ts';
import { listLiveBytes } from '../ledger/store/transactions.ts';
import { readEnvelope } from '../transactions/message.ts';

export type SigningDeps = {
  pool: Pool;
  network: Network;
  /** The configured numbers of fee payers and delegate authorities, by address. */
  numbers: ReadonlyMap<string, number>;
  /** An account's balance, cached for a while. */
  lamportsOf: (address: string) => Promise<number>;
};

/** The number of occurrences of each address. */
const tally = (addresses: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const address of addresses) counts.set(address, (counts.get(address) ?? 0) + 1);
  return counts;
};

const feePayerOf = (message: Uint8Array): string => readEnvelope(message).signers[0]!;

/**
 * Whether signing is paused, the open intents, and the keys that they need. It shows when an old
 * fee payer can be removed.
 */
export const getSigningStatus = async ({ pool, network, numbers, lamportsOf }: SigningDeps) => {
  const [paused, open, wires, messages] = await Promise.all([
    isPaused(pool),
    countOpen(pool),
    listLiveBytes(pool),
    listOpenMessages(pool),
  ]);
  const live = tally(wires.map((wire) => feePayerOf(disassemble(wire).message)));
  const prepared = tally(messages.map(feePayerOf));
  const payers = [...new Set([...network.feePayers, ...live.keys(), ...prepared.keys()])];
  // An unknown balance is null, because a pause must not wait for a provider.
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
