import { addressWith } from '../../../sdk/src/payment-page.ts';
import { session } from '../session/store.ts';
import { type BrowserWallet, connect, signByWallet } from '../wallet/browser-wallets.ts';
import { changeOf } from '../wallet/returned-payment.ts';
import type { Offer, Order } from './order.ts';
import { TEXTS } from './texts.ts';

/** Pays with a wallet of the browser. The vendor's server settles what the wallet has signed. */

const readBlockhash = async (environment: 'test' | 'live'): Promise<string> => {
  try {
    return (await session.get().client.settlement.getBlockhash({ environment })).blockhash;
  } catch (error) {
    throw new Error(TEXTS.noChain, { cause: error });
  }
};

/** What a wallet throws when its user declines, without the wallet's own words. */
const signed = async (wallet: BrowserWallet, payer: string, transaction: string, { chain }: Offer) => {
  try {
    return await signByWallet(wallet, payer, transaction, chain);
  } catch (error) {
    throw new Error(TEXTS.refused(wallet.name), { cause: error });
  }
};

/**
 * Lets a wallet sign the payment of an order.
 * @param onDoing called with what happens now
 * @returns the address that delivers
 * @throws Error with a sentence for the reader; nothing was paid then
 */
export const payByWallet = async (
  { claims, back }: Order,
  offer: Offer,
  wallet: BrowserWallet,
  onDoing: (text: string) => void,
): Promise<string> => {
  const { quote_amount: amount, payout_address: payee, mint, env } = claims;
  onDoing(TEXTS.connecting(wallet.name));
  const accounts = await connect(wallet).catch((error: unknown) => {
    throw new Error(TEXTS.refused(wallet.name), { cause: error });
  });
  const payer = accounts[0]?.address;
  if (payer === undefined) throw new Error(TEXTS.noAccount(wallet.name));
  const [{ buildPayment }, blockhash] = await Promise.all([
    import('../wallet/payment-transaction.ts'),
    readBlockhash(env),
  ]);
  const { feePayer, memo } = offer;
  const built = { payer, payee, mint, amountMicro: BigInt(amount), memo, feePayer, blockhash };
  const transaction = await buildPayment(built);
  onDoing(TEXTS.signing(wallet.name));
  const answer = await signed(wallet, payer, transaction, offer);
  const change = await changeOf(transaction, answer, built);
  if (change !== null) throw new Error(TEXTS[change === 'guards' ? 'added' : 'changed'](wallet.name));
  const payload = { x402Version: 2, accepted: offer.accepted, payload: { transaction: answer } };
  return addressWith(back, { payload });
};
