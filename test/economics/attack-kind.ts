import type { Keypair } from '@solana/web3.js';
import type { Bus } from '../../shared/bus/connect.ts';
import type { Payer, SubmitterFixture } from '../support/fixtures/chain-submitter/submitter.ts';

/** Lamports of a signature. */
export const SIGNATURE = 5000n;
/** What a settle of an attack or of others moves, in micro-units. */
export const GROSS = 1_000_000n;

/** `mirror`: its other wallet. `lamports`: what it has paid for its own transactions. */
export type Attacker = { account_id: string; payer: Payer; mirror: Payer; quotes: Bus; lamports: bigint };
/**
 * The cost of a round: token accounts that the platform paid for, and whether anything was refused.
 */
export type Round = { created: number; refused: boolean };
export type Attack = {
  /** Settings of chain-submitter that reach the bound in few rounds. */
  env?: (rounds: number) => Record<string, string>;
  round: (fixture: SubmitterFixture, attacker: Attacker, keep: Keypair) => Promise<Round>;
  /** After the last round: token accounts that were created only then. */
  finish?: (fixture: SubmitterFixture, attacker: Attacker) => Promise<number>;
};
