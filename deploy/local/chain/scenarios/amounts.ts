import type { Transaction } from '../formats/wire.ts';
import { type Key, TOKEN_PROGRAM } from '../keys.ts';

/** What happens to a transaction that moves an amount of `SCENARIOS`. */
type Scenario = 'insufficient' | 'slow' | 'failed' | 'forked' | 'unreachable';

/** Base units of the mint → the scenario. docs/guides/test-environment.md lists them for users. */
const SCENARIOS: ReadonlyMap<bigint, Scenario> = new Map([
  [1_000_101n, 'insufficient'],
  [1_000_102n, 'slow'],
  [1_000_103n, 'failed'],
  [1_000_104n, 'forked'],
  [1_000_105n, 'unreachable'],
]);

const TRANSFER_CHECKED = 12;
const TRANSFER_CHECKED_BYTES = 10;

/**
 * The scenario of a transaction: that of the sum of its `transferChecked` of the mint, so of net
 * and fee together. `source` is the token account that pays. Undefined for any other transaction.
 */
export const scenarioOf = (
  { message: { staticKeys, instructions } }: Transaction,
  mint: Key,
): { scenario: Scenario; source: Key } | undefined => {
  let [sum, source]: [bigint, Key | undefined] = [0n, undefined];
  for (const { programIdIndex, accounts, data } of instructions) {
    if (staticKeys[programIdIndex] !== TOKEN_PROGRAM || staticKeys[accounts[1] ?? -1] !== mint) continue;
    if (data[0] !== TRANSFER_CHECKED || data.length !== TRANSFER_CHECKED_BYTES) continue;
    sum += new DataView(data.buffer, data.byteOffset).getBigUint64(1, true);
    source ??= staticKeys[accounts[0]!];
  }
  const scenario = SCENARIOS.get(sum);
  return scenario && source && { scenario, source };
};
