import path from 'node:path';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import type { Harness } from '../harness.ts';
import { HANDS, inParallel } from '../recovery.ts';
import { countsOf } from './counts.ts';
import { createChainReader, type FinalRecords } from './final-records.ts';

/** How the ids of intents of our own payments begin. */
const OWN_PAYMENT = 'settle:';
/** Of a source that never paid, so many payments may be in flight. */
const MOST_FAILED = 3;

type FailedOnChain = Awaited<ReturnType<typeof readFailedOnChain>>;

/**
 * The transactions of the fee payer that failed on chain.
 * @param owners of accounts of this kind of traffic, who moved the money away while payments were
 *   in flight
 */
export const readFailedOnChain = async (
  harness: Harness,
  records: FinalRecords,
  owners: Iterable<string>,
) => {
  const { signaturesOf, transferOf, failuresOf } = createChainReader(harness);
  const emptied = await inParallel([...harness.emptied], HANDS, signaturesOf);
  const ofEmptied = new Set(emptied.flat().map(({ signature }) => signature));
  const { feePayer } = environmentKeys(path.resolve(harness.stateDir), 'test');
  const unexplained = (await signaturesOf(feePayer.address)).filter(
    ({ err, signature }) =>
      err !== null &&
      !ofEmptied.has(signature) &&
      !records.transactions.get(signature)?.intent_id.startsWith(OWN_PAYMENT),
  );
  return {
    /** Of those accounts. */
    emptied: (await inParallel([...owners], HANDS, failuresOf)).flat(),
    /** Nobody moved the money away, and they are not our own payments. */
    unexplained: await inParallel(unexplained, HANDS, ({ signature }) =>
      transferOf(feePayer.address, signature),
    ),
  };
};

type Case = { finalState: { failed: FailedOnChain }; forks: number };

/** What must hold of payments that other clients have signed and that fail on chain. */
export const failureInvariants = {
  /** Only what an owner took the money from, or a fork gave none to, fails on chain. */
  'nothing-fails-on-chain': ({ finalState: { failed }, forks }: Case): string[] =>
    forks > 0 ? [] : failed.unexplained.map(({ signature }) => signature),

  /** An account that never paid makes three transactions fail at most. */
  'a-source-fails-three-times-at-most': ({ finalState: { failed } }: Case): string[] =>
    Object.entries(countsOf(failed.emptied.map(({ owner }) => owner)))
      .filter(([, count]) => count > MOST_FAILED)
      .map(([owner, count]) => `${count} transactions of ${owner} failed`),
};
