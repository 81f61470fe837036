import type { QuoteClaims } from '../../../../sdk/src/checks/tokens.ts';
import { session } from '../../api/store.ts';
import { type BrowserWallet, connect, signByWallet } from '../../wallet/browser-wallets.ts';
import { changeOf } from '../../wallet/returned-payment.ts';
import { TEXTS } from '../texts.ts';

/** Lets a wallet of the browser sign the payment of a quote. */

type Chain = 'solana:mainnet' | 'solana:devnet';
/** What a wallet's payment has beside what the quote says. */
export type Terms = {
  memo: string;
  chain: Chain;
  /** Null: the fee payer that the API names. */
  feePayer: string | null;
};

const readBlockhash = async (environment: 'test' | 'live') => {
  try {
    return await session.get().client.settlement.getBlockhash({ environment });
  } catch (error) {
    throw new Error(TEXTS.noChain, { cause: error });
  }
};

/** What a wallet throws when its user declines, without the wallet's own words. */
const signed = async (wallet: BrowserWallet, payer: string, transaction: string, chain: Chain) => {
  try {
    return await signByWallet(wallet, payer, transaction, chain);
  } catch (error) {
    throw new Error(TEXTS.refused(wallet.name), { cause: error });
  }
};

/**
 * Lets a wallet sign the payment of a quote.
 * @param onDoing called with what happens now
 * @returns the signed transaction, base64, for whose fee payer the signature is missing
 * @throws Error with a sentence for the reader; nothing was paid then
 */
export const signPayment = async (
  { quote_amount: amount, payout_address: payee, mint, env }: QuoteClaims,
  { memo, chain, feePayer: named }: Terms,
  wallet: BrowserWallet,
  onDoing: (text: string) => void,
): Promise<string> => {
  onDoing(TEXTS.connecting(wallet.name));
  const accounts = await connect(wallet).catch((error: unknown) => {
    throw new Error(TEXTS.refused(wallet.name), { cause: error });
  });
  const payer = accounts[0]?.address;
  if (payer === undefined) throw new Error(TEXTS.noAccount(wallet.name));
  const [{ buildPayment }, { blockhash, fee_payer }] = await Promise.all([
    import('../../wallet/payment-transaction.ts'),
    readBlockhash(env),
  ]);
  const feePayer = named ?? fee_payer;
  const built = { payer, payee, mint, amountMicro: BigInt(amount), memo, feePayer, blockhash };
  const transaction = await buildPayment(built);
  onDoing(TEXTS.signing(wallet.name));
  const answer = await signed(wallet, payer, transaction, chain);
  const change = await changeOf(transaction, answer, built);
  if (change !== null) throw new Error(TEXTS[change === 'guards' ? 'added' : 'changed'](wallet.name));
  return answer;
};
