import { hexOfAddress, tokenAccountOf } from '../../../sdk/src/paywall/dialects/token-accounts.ts';
import {
  isOfSmartWallet,
  readTransaction,
  SMART_WALLETS,
  type Transaction,
  wrongIn,
} from '../../../sdk/src/paywall/dialects/transaction.ts';
import type { Payment } from './payment-transaction.ts';

/**
 * Compares what a wallet returned with what it was given. Wallets add guards and set the priority
 * fee, and a smart wallet pays by its own program. All else is another transaction. The policy of
 * the platform decides afterwards, so this check only says early, and in words, what is wrong.
 */

type Instruction = Transaction['instructions'][number];

const COMPUTE_BUDGET = hexOfAddress('ComputeBudget111111111111111111111111111111');
const MEMO = hexOfAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const LIGHTHOUSE = hexOfAddress('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
/** As the API takes them: about the data, the info or the token account of one account. */
const ASSERTIONS = [2, 3, 5, 6, 9, 10];
const MAX_GUARDS = 6;

const isGuard = ({ program }: Instruction): boolean => program === LIGHTHOUSE;
const isOfBudget = ({ program }: Instruction): boolean => program === COMPUTE_BUDGET;

const areSame = (a: readonly Instruction[], b: readonly Instruction[]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Whether guards only assert something of accounts of the buyer. */
const areAccepted = (guards: readonly Instruction[], own: readonly string[]): boolean =>
  guards.length <= MAX_GUARDS &&
  guards.every(
    ({ accounts, data }) =>
      ASSERTIONS.includes(data[0] ?? -1) && accounts.length === 1 && own.includes(accounts[0]!),
  );

/**
 * What a wallet has changed in a payment that it had to sign, or null.
 * @param built the transaction that the wallet got, in base64
 * @param returned the one that it has signed
 */
export const changeOf = async (
  built: string,
  returned: string,
  { payer, payee, mint, amountMicro, memo, feePayer }: Payment,
): Promise<'payment' | 'guards' | null> => {
  const [given, read] = [readTransaction(built)!, readTransaction(returned)];
  const transfers = { feePayer, mint, legs: [{ owner: payee, amount: String(amountMicro) }] };
  if (read === null || (await wrongIn(read, transfers, memo)) !== null) return 'payment';
  const guards = read.instructions.filter(isGuard);
  const others = read.instructions.filter((each) => !isGuard(each) && !isOfBudget(each));
  if (isOfSmartWallet(read)) {
    // Its guards are about accounts that these bytes do not name as its own.
    const isPart = ({ program }: Instruction) => program === MEMO || SMART_WALLETS.includes(program);
    return others.every(isPart) ? null : 'payment';
  }
  const paying = given.instructions.filter((each) => !isOfBudget(each));
  if (!areSame(others, paying)) return 'payment';
  const own = [hexOfAddress(payer), await tokenAccountOf(payer, mint)];
  return areAccepted(guards, own) ? null : 'guards';
};
