import { randomBytes } from 'node:crypto';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import {
  type AddressLookupTableAccount,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

/**
 * Clients of x402 and MPP as a vendor sees them: they read a 402 and answer with a credential.
 * test/interop uses the unmodified clients.
 */

/** What a buyer reads from a 402. */
export type Asked = {
  feePayer: string;
  mint: string;
  legs: { owner: string; amount: string }[];
  memo: string | null;
};

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/**
 * A signed transaction with an empty slot for the fee payer, of a new buyer or of `payer`.
 * @param options `before`: instructions before the transfers. `blockhash`: by default one that no
 *   chain has. `reference`: a fifth account of each transfer, which is only read
 */
export const wireTransaction = (
  { feePayer, mint, legs, memo }: Asked,
  {
    payer = Keypair.generate(),
    version = 0 as 0 | 'legacy',
    before = [] as readonly TransactionInstruction[],
    blockhash = new PublicKey(randomBytes(32)).toBase58(),
    reference = null as PublicKey | null,
    tables = [] as AddressLookupTableAccount[],
  } = {},
): string => {
  const mintKey = new PublicKey(mint);
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mintKey, owner, true);
  const source = accountOf(payer.publicKey);
  const transfers = legs.map(({ owner, amount }) =>
    createTransferCheckedInstruction(
      ...([source, mintKey, accountOf(new PublicKey(owner)), payer.publicKey, BigInt(amount), 6] as const),
    ),
  );
  if (reference !== null)
    for (const { keys } of transfers) keys.push({ pubkey: reference, isSigner: false, isWritable: false });
  const memos = memo === null ? [] : [memo];
  const instructions = [
    ...before,
    ...transfers,
    ...memos.map(
      (text) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) }),
    ),
  ];
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions,
  });
  const transaction = new VersionedTransaction(
    version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage(),
  );
  transaction.sign([payer]);
  return Buffer.from(transaction.serialize()).toString('base64');
};

const toBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const toBase64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
// biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field
export const fromBase64 = (text: string | null): any => JSON.parse(Buffer.from(text!, 'base64').toString());

/** The fields of an MPP challenge as the header has them. */
export const challengeOf = (headers: Headers): Record<string, string> => {
  const text = headers.get('www-authenticate')!;
  const fields = [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
  return Object.fromEntries(fields);
};

type Credential = Record<string, string>;
export type Rail = 'x402' | 'mpp';

/** What an entry of `accepts` asks for, of either version of x402. */
// biome-ignore lint/suspicious/noExplicitAny: read as a buyer does
export const askedOf = ({ asset, payTo, amount, maxAmountRequired, extra }: any): Asked => ({
  ...{ feePayer: extra.feePayer, mint: asset, memo: extra.memo ?? null },
  legs: [{ owner: payTo, amount: amount ?? maxAmountRequired }],
});

/** What the offer of a 402 asks for. */
export const askedBy: Record<Rail, (headers: Headers) => Asked> = {
  x402: (headers) => askedOf(fromBase64(headers.get('payment-required')).accepts[0]),
  mpp: (headers) => {
    const { amount, currency, recipient, externalId, methodDetails } = fromBase64(
      challengeOf(headers).request!,
    );
    const { feePayerKey, splits = [] } = methodDetails;
    const others = splits.map((split: Record<string, string>) => ({
      owner: split.recipient!,
      amount: split.amount!,
    }));
    const net = others.reduce(
      (left: bigint, each: Asked['legs'][0]) => left - BigInt(each.amount),
      BigInt(amount),
    );
    const legs = [{ owner: recipient, amount: String(net) }, ...others];
    return { feePayer: feePayerKey, mint: currency, legs, memo: externalId };
  },
};

/** The header of a payment for the offer of a 402. */
export const paymentOn: Record<Rail, (headers: Headers, transaction?: string) => Credential> = {
  x402: (headers, transaction = wireTransaction(askedBy.x402(headers))) => {
    const { resource, accepts } = fromBase64(headers.get('payment-required'));
    const payment = { x402Version: 2, resource, accepted: accepts[0], payload: { transaction } };
    return { 'payment-signature': toBase64(payment) };
  },
  mpp: (headers, transaction = wireTransaction(askedBy.mpp(headers))) => {
    const credential = { challenge: challengeOf(headers), payload: { type: 'transaction', transaction } };
    return { authorization: `Payment ${toBase64Url(credential)}` };
  },
};

/** A payment of x402 version 1, for an entry of `accepts` in the body. */
export const paymentV1 = (accepted: { network: string }): Credential => {
  const payload = { transaction: wireTransaction(askedOf(accepted)) };
  return { 'x-payment': toBase64({ x402Version: 1, scheme: 'exact', network: accepted.network, payload }) };
};

/** The memo that the offer of a 402 requires. */
export const memoOf: Record<Rail, (headers: Headers) => string> = {
  x402: (headers) => fromBase64(headers.get('payment-required')).accepts[0].extra.memo,
  mpp: (headers) => fromBase64(challengeOf(headers).request!).externalId,
};
