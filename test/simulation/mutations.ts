import { flag, readCommandLine, refuse, text, whole } from '../../deploy/local/processes/command-line.ts';
import { RULES, type Rule } from './harness.ts';
import { createPool, type Pool } from './pool.ts';
import type { Outcome } from './simulate.ts';

/**
 * A seed that broke at the last search, for each rule. It is tried first, because a search takes
 * hundreds of runs for some rules.
 */
const KNOWN: Record<Rule, number> = {
  'commit before send': 1,
  'unique intent (inbox)': 3,
  'unique quote index': 13,
  'query of the reference before signing': 1,
  'expiry proof: block height': 15,
  'expiry proof: valid blockhash': 64,
  'expiry proof: every provider': 14,
  'conditional holds': 18,
  'one live generation': 64,
  'confirmed recorded before its event': 58,
  'signing deadline': 677,
  'attempt read first': 1,
  'sweep of settlement': 11,
  'sweep of chain-submitter': 1,
  'generation in the job': 59,
  'attempt read after a refusal': 1,
  'quote read after a refusal': 1,
  'limits of a delegate': 111,
  'limits of an account': 7,
  'counters of a delegate': 1,
  'reservation released once': 2,
  'incoming: unique message': 7,
  'incoming: tombstone': 21,
  'incoming: expiry, valid blockhash': 689,
  'incoming: expiry, every provider': 2,
  'incoming: expiry, search of history': 28,
  'incoming: holds of a source': 76,
  'incoming: hand_out_id in the confirm': 564,
  'incoming: fee kept on chain failure': 28,
  'incoming: record before a refusal': 736,
  'incoming: credit in the insert': 1,
  'incoming: credit that is left': 4,
  'incoming: a hand-out lasts': 28,
  'incoming: another provider confirms': 498,
  'incoming: search after a restore': 21,
  'incoming: record decides over the payout address': 7,
  'approval above an amount': 1,
  'approval of its amount': 47,
  'approval of its quote': 735,
  'approval of its delegate': 15,
  'approval of one attempt': 27,
  'approval locked by its payment': 15,
  'payment read after the lock of its approval': 15,
  'units left of a consume': 1,
  'unique id of a consume': 1,
  'consume read after a refusal': 1,
  'ceiling of an authorization': 11,
  'a capture decides on the newest use': 3,
  'a void decides on the newest use': 5,
  'authorized: summed after the lock': 22,
  'capture over a cap: decided again': 60,
  'capture over a cap: its ceiling stays held': 1,
  'closing: nothing is used afterwards': 12,
  'extension: locks its authorization': 2,
  'extension: of an open authorization only': 1,
  'extension: holds the addition': 2,
  'extension: counts once under a repeat': 2,
  'extension: its quote in the job of the sweep': 61,
  'extension: counted once by the signer': 1,
  'outgoing expiry: valid blockhash': 116,
  'outgoing expiry: last block': 2,
  'outgoing expiry: history': 1,
  'outgoing expiry: history of every provider': 44,
  'outgoing: one message of an attempt': 11,
  'outgoing: a hint proves nothing': 2,
  'outgoing: another provider confirms': 2,
  'outgoing: limits of a delegate': 52,
  'outgoing: holds of a wallet': 12,
  'outgoing: search after a restore': 17,
};

/**
 * The mutation check: with a rule switched off the simulation must find a break. Otherwise it
 * proves nothing about that rule.
 */
type Found = { seed: number; broken: string };

const foundIn = ({ seed, broken }: Outcome): Found | null =>
  broken === null ? null : { seed, broken: broken.invariant };

/** The known seeds that still break. */
const replay = async (pool: Pool, rules: readonly Rule[]): Promise<Map<Rule, Found>> => {
  const found = new Map<Rule, Found>();
  const tasks = rules.map((off) => ({
    seed: KNOWN[off],
    off,
    traced: false,
    sql: false,
  }));
  await pool.runTasks(tasks, (outcome, { off }) => {
    const broken = foundIn(outcome);
    if (broken !== null) found.set(off!, broken);
    return true;
  });
  return found;
};

/** Runs seeds until one breaks. */
const search = async (pool: Pool, rule: Rule, seeds: number): Promise<Found | null> => {
  const found: Found[] = [];
  const onOutcome = (outcome: Outcome): boolean => {
    const broken = foundIn(outcome);
    if (broken !== null) found.push(broken);
    return found.length === 0;
  };
  await pool.runSeeds({ first: 1, count: seeds }, { off: rule, onOutcome });
  return found.sort((a, b) => a.seed - b.seed)[0] ?? null;
};

if (import.meta.main) {
  const { values } = readCommandLine({
    typed: 'npm run prove -- mutations',
    about: 'Switches off each rule of payment, one at a time. Ends with 1 if no seed breaks without it.',
    options: {
      seeds: whole('N', 'seeds to try for a rule whose known seed no longer breaks', 4000),
      search: flag('searches for every rule, also where the known seed breaks'),
      rule: text('NAME', `only this rule: ${RULES.join(', ')}`),
    },
  });
  const chosen = RULES.filter((rule) => values.rule === undefined || rule === values.rule);
  if (chosen.length === 0) refuse(`there is no rule "${values.rule}"`);
  const { seeds } = values;
  console.log('| Rule switched off | Seed that breaks | Invariant that broke |');
  console.log('| --- | --- | --- |');
  let missed = 0;
  const pool = createPool();
  const known = values.search ? new Map<Rule, Found>() : await replay(pool, chosen);
  for (const rule of chosen) {
    const found = known.get(rule) ?? (await search(pool, rule, seeds));
    if (found === null) missed += 1;
    console.log(`| ${rule} | ${found?.seed ?? `none of ${seeds}`} | ${found?.broken ?? 'NOT FOUND'} |`);
    if (!values.search && found !== null && found.seed !== KNOWN[rule])
      console.error(`${rule}: seed ${KNOWN[rule]} no longer breaks, seed ${found.seed} does: change KNOWN`);
  }
  await pool.close();
  process.exitCode = missed > 0 ? 1 : 0;
}
