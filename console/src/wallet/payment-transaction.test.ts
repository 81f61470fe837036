import { expect, test } from '@jest/globals';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { readTransaction, wrongIn } from '../../../sdk/src/paywall/dialects/transaction.ts';
import { tokenAccountOf } from '../../../services/chain-submitter/chain/addresses.ts';
import { decodeIncoming } from '../../../services/chain-submitter/incoming/envelope.ts';
import { checkIncomingPolicy } from '../../../services/chain-submitter/incoming/policy.ts';
import { feePayerKey, network } from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import { buildPayment } from './payment-transaction.ts';

/** The transaction of the payment page is one that vendor and platform accept. */
test('a wallet signs exactly one transfer, which the paywall and the policy of the platform accept', async () => {
  const [payer, payee] = [Keypair.generate(), Keypair.generate().publicKey.toBase58()];
  const feePayer = feePayerKey.publicKey.toBase58();
  const { mint } = network;
  const wire = await buildPayment({
    ...{ payer: payer.publicKey.toBase58(), payee, mint, amountMicro: 50_001n, memo: 'offer-1', feePayer },
    blockhash: Keypair.generate().publicKey.toBase58(),
  });
  const transaction = VersionedTransaction.deserialize(Buffer.from(wire, 'base64'));
  transaction.sign([payer]);
  const signed = Buffer.from(transaction.serialize());
  const legs = [{ owner: payee, amount: '50001' }];
  const read = readTransaction(signed.toString('base64'))!;
  expect(await wrongIn(read, { feePayer, mint, legs }, 'offer-1')).toBeNull();
  const terms = {
    legs: [{ destination: tokenAccountOf(payee, mint), amountMicro: 50_001n }],
    memos: ['offer-1'],
  };
  expect(checkIncomingPolicy(decodeIncoming(signed), terms, { network })).toMatchObject({
    feePayer,
    authority: payer.publicKey.toBase58(),
    source: tokenAccountOf(payer.publicKey.toBase58(), mint),
  });
});
