import { describe, expect, test } from '@jest/globals';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import {
  address,
  buyer,
  delegateAuthority,
  feeAccount,
  feePayerKey,
  limit,
  memo,
  multisig,
  network,
  oldFeePayerKey,
  other,
  pay,
  payTo,
  price,
  source,
  stranger,
  wire,
  withAccount,
  withData,
} from '../../../test/support/incoming-messages.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import { PaymentRefusal } from '../payments/refusal.ts';
import { decodeIncoming } from './envelope.ts';
import { checkIncomingPolicy, type IncomingTerms } from './policy.ts';

/** Bytes as the clients of x402 and MPP build them, and changes that an attacker might make. */

const x402: IncomingTerms = { legs: [{ destination: payTo, amountMicro: 50_000n }], memos: ['offer-1'] };
const mpp: IncomingTerms = {
  legs: [
    { destination: payTo, amountMicro: 48_000n },
    { destination: feeAccount, amountMicro: 2000n },
  ],
  memos: ['offer-1', 'fee'],
};

const evaluate = (bytes: Uint8Array, order = x402): string => {
  try {
    const { feePayer } = checkIncomingPolicy(decodeIncoming(bytes), order, { network });
    return feePayer === address(feePayerKey) ? SIGNED : SIGNED_BY_OLD;
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return error.reason;
  }
};
const stock = [limit(), price(), pay(), memo('offer-1')];
const SIGNED = 'signed by the fee payer';
const SIGNED_BY_OLD = 'signed by an old fee payer';

describe('accepted', () => {
  test.each<[string, Uint8Array, IncomingTerms, string]>([
    ['the message of the stock x402 client', wire(stock), x402, SIGNED],
    ['a legacy message', wire(stock, { version: 'legacy' }), x402, SIGNED],
    ['the price before the limit', wire([price(), limit(), pay(), memo('offer-1')]), x402, SIGNED],
    ['a fee payer from before a rotation', wire(stock, { payer: oldFeePayerKey }), x402, SIGNED_BY_OLD],
    [
      'the random memo of a client without an offer',
      wire([limit(), price(), pay(), memo('7f3a')]),
      { ...x402, memos: null },
      SIGNED,
    ],
    ['no memo without an offer', wire([limit(), price(), pay()]), { ...x402, memos: null }, SIGNED],
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
    [
      'the highest priority fee',
      wire([limit(200_000), price(100_000), pay(), memo('offer-1')]),
      x402,
      SIGNED,
    ],
  ])('%s', (_name, bytes, order, expected) => {
    expect(evaluate(bytes, order)).toBe(expected);
  });

  test('a random memo has at most 256 bytes', () => {
    const withMemo = (bytes: number) => wire([limit(), price(), pay(), memo('x'.repeat(bytes))]);
    const terms = { ...x402, memos: null };
    expect([256, 257].map((bytes) => evaluate(withMemo(bytes), terms))).toEqual([SIGNED, 'memo_mismatch']);
    const notText = wire([limit(), price(), pay(), memo(Buffer.of(0xff))]);
    expect(evaluate(notText, terms)).toBe('memo_mismatch');
    expect(evaluate(wire([limit(), price(), pay(), memo('1'), memo('2')]), terms)).toBe('memo_count');
  });

  test('whatever the fee payer’s slot holds', () => {
    const bytes = wire(stock);
    bytes.fill(7, 1, 65);
    expect(evaluate(bytes)).toBe(SIGNED);
  });

  test('the source, the authority and the priority fee are read from the bytes', () => {
    const bytes = wire([limit(20_001), price(), pay(), memo('offer-1')]);
    const read = checkIncomingPolicy(decodeIncoming(bytes), x402, { network });
    expect(read).toMatchObject({ source, authority: address(buyer), priorityFeeLamports: 1n });
  });
});

test.each<[string, TransactionInstruction[], string]>([
  ['no limit', [price(), pay(), memo('offer-1')], 'transaction_instructions_compute_limit_instruction'],
  ['no price', [limit(), pay(), memo('offer-1')], 'transaction_instructions_compute_price_instruction'],
  [
    'two limits',
    [limit(), limit(), pay(), memo('offer-1')],
    'transaction_instructions_compute_price_instruction',
  ],
  ['a third budget instruction', [limit(), price(), price(), pay(), memo('offer-1')], 'unknown_instruction'],
  [
    'a limit above the bound',
    [limit(200_001), price(), pay(), memo('offer-1')],
    'transaction_instructions_compute_limit_instruction_too_high',
  ],
  [
    '1.4 million units at 5 lamports',
    [limit(1_400_000), price(5_000_000), pay(), memo('offer-1')],
    'transaction_instructions_compute_limit_instruction_too_high',
  ],
  [
    'a priority fee above the bound',
    [limit(200_000), price(100_001), pay(), memo('offer-1')],
    'transaction_instructions_compute_price_instruction_too_high',
  ],
  [
    'the highest price that fits in the bytes',
    [limit(1), price(2n ** 64n - 1n), pay(), memo('offer-1')],
    'transaction_instructions_compute_price_instruction_too_high',
  ],
  [
    'a heap frame',
    [limit(), price(), ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 }), pay(), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'a transfer of Token-2022',
    [
      limit(),
      price(),
      new TransactionInstruction({ ...pay(), programId: new PublicKey(PROGRAMS.token2022) }),
      memo('offer-1'),
    ],
    'no_transfer_instruction',
  ],
  ['two transfers', [limit(), price(), pay(), pay(), memo('offer-1')], 'no_transfer_instruction'],
  [
    'an unchecked transfer',
    [limit(), price(), withData(pay(), (data) => data.writeUInt8(3, 0)), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'an approval',
    [limit(), price(), withData(pay(), (data) => data.writeUInt8(13, 0)), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'a multisig authority that the buyer signs for',
    [limit(), price(), multisig(), memo('offer-1')],
    'unknown_instruction',
  ],
  ['another mint', [limit(), price(), pay({ mint: other }), memo('offer-1')], 'mint_mismatch'],
  [
    'other decimals',
    [limit(), price(), withData(pay(), (data) => data.writeUInt8(9, 9)), memo('offer-1')],
    'mint_mismatch',
  ],
  ['another payee', [limit(), price(), pay({ destination: other }), memo('offer-1')], 'recipient_mismatch'],
  ['one unit less', [limit(), price(), pay({ amountMicro: 49_999n }), memo('offer-1')], 'amount_mismatch'],
  ['one unit more', [limit(), price(), pay({ amountMicro: 50_001n }), memo('offer-1')], 'amount_mismatch'],
  ['the payee as source', [limit(), price(), pay({ source: payTo }), memo('offer-1')], 'recipient_mismatch'],
  [
    'the fee account as source',
    [limit(), price(), pay({ source: feeAccount }), memo('offer-1')],
    'transaction_fee_payer_transferring_funds',
  ],
  [
    'the fee payer as reference',
    [limit(), price(), withAccount(pay(), address(feePayerKey)), memo('offer-1')],
    'transaction_fee_payer_transferring_funds',
  ],
  [
    'lamports of the fee payer',
    [
      limit(),
      price(),
      pay(),
      SystemProgram.transfer({ fromPubkey: feePayerKey.publicKey, toPubkey: buyer.publicKey, lamports: 1 }),
    ],
    'transaction_fee_payer_transferring_funds',
  ],
  [
    'lamports of the buyer',
    [
      limit(),
      price(),
      pay(),
      SystemProgram.transfer({ fromPubkey: buyer.publicKey, toPubkey: stranger.publicKey, lamports: 1 }),
    ],
    'unknown_instruction',
  ],
  [
    'a nonce account',
    [
      SystemProgram.nonceAdvance({ noncePubkey: stranger.publicKey, authorizedPubkey: buyer.publicKey }),
      limit(),
      price(),
      pay(),
      memo('offer-1'),
    ],
    'transaction_instructions_compute_limit_instruction',
  ],
  [
    'a guard of a wallet, where the operator allows none',
    [
      limit(),
      price(),
      pay(),
      memo('offer-1'),
      new TransactionInstruction({
        programId: new PublicKey(PROGRAMS.lighthouse),
        keys: [],
        data: Buffer.of(0),
      }),
    ],
    'unknown_instruction',
  ],
  ['another memo', [limit(), price(), pay(), memo('offer-2')], 'memo_mismatch'],
  ['a memo with a byte order mark', [limit(), price(), pay(), memo('\ufeffoffer-1')], 'memo_mismatch'],
  ['no memo', [limit(), price(), pay()], 'memo_count'],
  ['a second memo', [limit(), price(), pay(), memo('offer-1'), memo('offer-1')], 'memo_count'],
  [
    'a memo with an account',
    [limit(), price(), pay(), withAccount(memo('offer-1'), other)],
    'unknown_instruction',
  ],
  ['a memo of 257 bytes', [limit(), price(), pay(), memo('x'.repeat(257))], 'memo_mismatch'],
  ['a memo that is not UTF-8', [limit(), price(), pay(), memo(Buffer.of(0xff))], 'memo_mismatch'],
  [
    'a fifth account that is only read',
    [limit(), price(), withAccount(pay(), other), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'a writable fifth account',
    [limit(), price(), withAccount(pay(), other, { isSigner: false, isWritable: true }), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'too many instructions',
    [limit(), price(), pay(), ...Array.from({ length: 14 }, () => memo('offer-1'))],
    'transaction_instructions_length',
  ],
])('refused: %s', (_name, instructions, expected) => {
  expect(evaluate(wire(instructions))).toBe(expected);
});

describe('refused signers and encodings', () => {
  test.each<[string, () => Uint8Array, string]>([
    ['an account that no instruction names', () => wire(stock, { unused: other }), 'unknown_instruction'],
    [
      'an account that no instruction of a legacy message names',
      () => wire(stock, { unused: other, version: 'legacy' }),
      'unknown_instruction',
    ],
    [
      'a third signer',
      () =>
        wire([...stock, withAccount(memo('x'), other, { isSigner: true, isWritable: false })], {
          signers: [buyer, stranger],
        }),
      'excessive_signers',
    ],
    ['the buyer alone', () => wire(stock, { payer: buyer }), 'excessive_signers'],
    [
      'the fee payer of another facilitator',
      () => wire(stock, { payer: stranger }),
      'fee_payer_not_managed_by_facilitator',
    ],
    ['no signature of the buyer', () => wire(stock, { signers: [] }), 'signature_invalid'],
    [
      'our delegate authority as the authority',
      () =>
        wire([limit(), price(), pay({ authority: address(delegateAuthority) }), memo('offer-1')], {
          signers: [delegateAuthority],
        }),
      'transaction_fee_payer_transferring_funds',
    ],
    [
      'an old fee payer as the authority',
      () =>
        wire([limit(), price(), pay({ authority: address(oldFeePayerKey) }), memo('offer-1')], {
          signers: [oldFeePayerKey],
        }),
      'transaction_fee_payer_transferring_funds',
    ],
    [
      'a lookup table that was not read',
      () => {
        const table = new AddressLookupTableAccount({
          key: stranger.publicKey,
          state: {
            deactivationSlot: 2n ** 64n - 1n,
            lastExtendedSlot: 0,
            lastExtendedSlotStartIndex: 0,
            addresses: [new PublicKey(payTo)],
          },
        });
        return wire(stock, { tables: [table] });
      },
      'transaction_could_not_be_decoded',
    ],
    ['trailing bytes', () => Buffer.concat([wire(stock), Buffer.of(0)]), 'transaction_could_not_be_decoded'],
    ['a missing byte', () => wire(stock).subarray(0, -1), 'transaction_could_not_be_decoded'],
    ['no bytes', () => new Uint8Array(), 'transaction_could_not_be_decoded'],
    ['more bytes than a packet has', () => new Uint8Array(1233).fill(1), 'transaction_could_not_be_decoded'],
  ])('%s', (_name, bytes, expected) => {
    expect(evaluate(bytes())).toBe(expected);
  });

  test('a changed byte of the message does not match the buyer’s signature, or does not decode', () => {
    const bytes = wire(stock);
    for (let index = 1 + 2 * 64; index < bytes.length; index += 1) {
      const changed = Uint8Array.from(bytes);
      changed[index]! ^= 1;
      expect(evaluate(changed)).not.toBe(SIGNED);
    }
  });
});

describe('refused splits of MPP', () => {
  const net = pay({ amountMicro: 48_000n });
  const fee = pay({ destination: feeAccount, amountMicro: 2000n });
  test.each<[string, TransactionInstruction[], string]>([
    ['no fee', [net, memo('offer-1'), memo('fee')], 'no_transfer_instruction'],
    ['the fee first', [fee, memo('offer-1'), net, memo('fee')], 'recipient_mismatch'],
    [
      'the fee to the vendor',
      [net, memo('offer-1'), pay({ amountMicro: 2000n }), memo('fee')],
      'recipient_mismatch',
    ],
    ['one leg twice', [net, memo('offer-1'), net, memo('fee')], 'recipient_mismatch'],
    [
      'a fee that is too small',
      [net, memo('offer-1'), pay({ destination: feeAccount, amountMicro: 1999n }), memo('fee')],
      'amount_mismatch',
    ],
    [
      'legs of two sources',
      [
        net,
        memo('offer-1'),
        pay({ destination: feeAccount, amountMicro: 2000n, source: other }),
        memo('fee'),
      ],
      'unknown_instruction',
    ],
    [
      'the fee from the vendor’s account',
      [
        net,
        memo('offer-1'),
        pay({ destination: feeAccount, amountMicro: 2000n, source: payTo }),
        memo('fee'),
      ],
      'unknown_instruction',
    ],
    ['memos in the other order', [net, memo('fee'), fee, memo('offer-1')], 'memo_mismatch'],
  ])('%s', (_name, instructions, expected) => {
    expect(evaluate(wire([price(), limit(), ...instructions]), mpp)).toBe(expected);
  });
});
