import { isDeepStrictEqual } from 'node:util';
import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { decodeIncoming } from '../../services/chain-submitter/incoming/envelope.ts';
import { checkIncomingPolicy } from '../../services/chain-submitter/incoming/policy.ts';
import { PaymentRefusal } from '../../services/chain-submitter/payments/refusal.ts';
import { decodeAnyMessage } from '../../services/chain-submitter/transactions/message.ts';
import { verifySigned } from '../../services/chain-submitter/user-signed/verify-signed.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { privateKeyFromSeed, signBytes } from '../../shared/lib/chain/ed25519.ts';
import { assemble, messageHashOf } from '../../shared/lib/chain/wire-transaction.ts';
import { decodeByWeb3 } from '../support/base/web3-message.ts';
import {
  address,
  buyer,
  limit,
  memo,
  network,
  pay,
  payTo,
  price,
  wire,
} from '../support/fixtures/chain-submitter/incoming-messages.ts';
import { changedBytes } from './mutations.ts';
import { hold, refusing, type Target, target } from './target.ts';

/** Bytes of Solana that this system co-signs. */

const ORDER = { legs: [{ destination: payTo, amountMicro: 50_000n }], memos: ['offer-1'] };
const stock = [limit(), price(), pay(), memo('offer-1')];
const foreign = [wire(stock), wire(stock, { version: 'legacy' }), wire([...stock, memo('a'), memo('é')])];

const owner = Keypair.generate();
const key = privateKeyFromSeed(buyer.secretKey.subarray(0, 32));

/** A message that was changed before its signer signed it, so that the signature is valid. */
const signedAgain = (bytes: Buffer): Buffer => assemble(bytes, [null, signBytes(bytes, key)]);
const messages = foreign.map((bytes) => bytes.subarray(1 + 2 * 64));

const checkIncoming = (bytes: Uint8Array): void => {
  const found = refusing([PaymentRefusal], () =>
    checkIncomingPolicy(decodeIncoming(bytes), ORDER, { network }),
  );
  hold(found === null || messageHashOf(Buffer.from(bytes).toString('base64')) !== null, 'no identity');
  if (found === null) return;
  // What is co-signed has the signature of the buyer, and pays what the order says.
  hold(found.authority === address(buyer), 'another authority was accepted');
  hold(network.feePayers.includes(found.feePayer), 'another fee payer was accepted');
};

export const chainTargets = (): Target[] => [
  target(
    'chain: an incoming payment',
    fc.constantFrom(...foreign).chain((bytes) => changedBytes(fc.constant(bytes))),
    checkIncoming,
  ),
  target(
    'chain: an incoming payment that was signed after its change',
    fc.constantFrom(...messages).chain((bytes) => changedBytes(fc.constant(bytes)).map(signedAgain)),
    checkIncoming,
  ),
  target(
    'chain: a transaction that its owner has signed',
    fc.constantFrom(...foreign).chain((bytes) => changedBytes(fc.constant(bytes))),
    (bytes) => {
      const prepared = Buffer.from(messages[1]!);
      const signer = owner.publicKey.toBase58();
      const found = refusing([ServiceError], () => verifySigned(prepared, bytes, signer));
      hold(found === null, 'a transaction without the signature of its owner was accepted');
    },
  ),
  target(
    'chain: bytes of a message',
    fc.constantFrom(...messages).chain((bytes) => changedBytes(fc.constant(bytes))),
    (bytes) => {
      const decoded = refusing([Error], () => decodeAnyMessage(bytes));
      hold(
        isDeepStrictEqual(
          decoded,
          refusing([Error], () => decodeByWeb3(bytes)),
        ),
        'not as web3.js',
      );
    },
  ),
];
