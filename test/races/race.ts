import type { Consumer } from '../../deploy/local/seed/actors.ts';
import { tally } from '../support/servers/stack.ts';
import { BALANCE, type Fixture, PRICE } from './fixture.ts';

/** Concurrent calls against one object. Returns what does not hold, which must be nothing. */
export type Race = (fixture: Fixture) => Promise<string[]>;

/** An answer of the public API: its status, and the code of its error. */
type Answer = { status: number; body: { error?: { code: string } } };

/** The error's code, or the status of an answer without an error. */
export const outcome = ({ status, body }: Answer): string | number => body.error?.code ?? status;

/** How often each outcome was answered, as JSON. */
export const outcomes = (answers: readonly Answer[]): string => JSON.stringify(tally(answers.map(outcome)));

export const unless = (holds: boolean, what: string): string[] => (holds ? [] : [what]);

/** Whatever the answers were: this many payments left the wallet, and it holds nothing. */
export const paidExactly = async (
  { chain, rows }: Fixture,
  buyer: Consumer,
  count: number,
  balance = BALANCE,
) => {
  const left = await chain.balance(buyer.wallet.publicKey);
  const expected = balance - PRICE * BigInt(count);
  const held = async () => {
    const [row] = await rows<{ held: string }>('select held from settlement.payers where wallet_id = $1', [
      buyer.walletId,
    ]);
    return row?.held ?? '0';
  };
  return [
    ...unless(left === expected, `the wallet has ${left}, with ${count} payments it should have ${expected}`),
    ...unless((await held()) === '0', `the wallet still holds ${await held()}`),
  ];
};
