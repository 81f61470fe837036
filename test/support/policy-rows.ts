import { PROGRAMS } from '../../services/chain-submitter/chain/addresses.ts';
import { decodeIncoming } from '../../services/chain-submitter/incoming/envelope.ts';
import { checkIncomingPolicy, type IncomingTerms } from '../../services/chain-submitter/incoming/policy.ts';
import { PaymentRefusal } from '../../services/chain-submitter/payments/refusal.ts';
import {
  address,
  feeAccount,
  feePayerKey,
  limit,
  memo,
  network,
  oldFeePayerKey,
  pay,
  payTo,
  price,
  wire,
} from './incoming-messages.ts';
import {
  REFUSED_BYTES,
  REFUSED_INSTRUCTIONS,
  REFUSED_MEMOS,
  REFUSED_SPLITS,
  REFUSED_WITH_GUARDS,
} from './policy-refusals.ts';

/**
 * Bytes as the clients of x402 and MPP build them, and changes that an attacker might make, with
 * what the policy answers.
 */

/** A row of the tables: what it is, its bytes, its order, and the answer. */
type PolicyRow = [
  name: string,
  bytes: () => Uint8Array,
  order: IncomingTerms,
  answer: string,
  programs?: ReadonlySet<string>,
];

export const X402: IncomingTerms = {
  legs: [{ destination: payTo, amountMicro: 50_000n }],
  memos: ['offer-1'],
};
const mpp: IncomingTerms = {
  legs: [
    { destination: payTo, amountMicro: 48_000n },
    { destination: feeAccount, amountMicro: 2000n },
  ],
  memos: ['offer-1', 'fee'],
};
export const STOCK = [limit(), price(), pay(), memo('offer-1')];
export const SIGNED = 'signed by the fee payer';
const SIGNED_BY_OLD = 'signed by an old fee payer';

/** `SIGNED`, `SIGNED_BY_OLD`, or the reason of the refusal. */
export const evaluate = (
  bytes: Uint8Array,
  order = X402,
  programs: ReadonlySet<string> = new Set(),
): string => {
  try {
    const { feePayer } = checkIncomingPolicy(decodeIncoming(bytes), order, { network, programs });
    return feePayer === address(feePayerKey) ? SIGNED : SIGNED_BY_OLD;
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return error.reason;
  }
};

const accepted: [string, Uint8Array, IncomingTerms, string][] = [
  ['the message of the stock x402 client', wire(STOCK), X402, SIGNED],
  ['a legacy message', wire(STOCK, { version: 'legacy' }), X402, SIGNED],
  ['the price before the limit', wire([price(), limit(), pay(), memo('offer-1')]), X402, SIGNED],
  ['a fee payer from before a rotation', wire(STOCK, { payer: oldFeePayerKey }), X402, SIGNED_BY_OLD],
  [
    'the random memo of a client without an offer',
    wire([limit(), price(), pay(), memo('7f3a')]),
    { ...X402, memos: null },
    SIGNED,
  ],
  ['no memo without an offer', wire([limit(), price(), pay()]), { ...X402, memos: null }, SIGNED],
  [
    'the longest memo',
    wire([limit(), price(), pay(), memo('x'.repeat(256))]),
    { ...X402, memos: null },
    SIGNED,
  ],
  [
    'the message of the stock MPP client',
    wire([
      price(),
      limit(200_000),
      pay({ amountMicro: 48_000n }),
      memo('offer-1'),
      pay({ destination: feeAccount, amountMicro: 2000n }),
      memo('fee'),
    ]),
    mpp,
    SIGNED,
  ],
  ['the highest priority fee', wire([limit(200_000), price(100_000), pay(), memo('offer-1')]), X402, SIGNED],
];

export const ACCEPTED: readonly PolicyRow[] = accepted.map(([name, bytes, order, answer]) => [
  name,
  () => bytes,
  order,
  answer,
]);
export const REFUSED: readonly PolicyRow[] = [
  ...REFUSED_INSTRUCTIONS.map(
    ([name, instructions, answer]): PolicyRow => [name, () => wire(instructions), X402, answer],
  ),
  ...REFUSED_BYTES.map(([name, bytes, answer]): PolicyRow => [name, bytes, X402, answer]),
  ...REFUSED_MEMOS.map(
    ([name, memos, answer]): PolicyRow => [
      `without a memo in the order: ${name}`,
      () => wire([limit(), price(), pay(), ...memos]),
      { ...X402, memos: null },
      answer,
    ],
  ),
  ...REFUSED_WITH_GUARDS.map(
    ([name, instructions, answer]): PolicyRow => [
      name,
      () => wire([limit(), price(), ...instructions]),
      X402,
      answer,
      new Set([PROGRAMS.lighthouse]),
    ],
  ),
  ...REFUSED_SPLITS.map(
    ([name, instructions, answer]): PolicyRow => [
      `of MPP: ${name}`,
      () => wire([price(), limit(), ...instructions]),
      mpp,
      answer,
    ],
  ),
];
