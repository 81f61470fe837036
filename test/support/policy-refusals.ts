import {
  type AccountMeta,
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { PROGRAMS } from '../../services/chain-submitter/chain/addresses.ts';
import {
  address,
  buyer,
  delegateAuthority,
  feeAccount,
  feePayerKey,
  limit,
  memo,
  multisig,
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
} from './incoming-messages.ts';

/** Changes that an attacker might make to a payment, and the reason of the refusal. */

const STOCK = [limit(), price(), pay(), memo('offer-1')];

const guard = (account: string) =>
  new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.lighthouse),
    keys: [{ pubkey: new PublicKey(account), isSigner: false, isWritable: false }],
    data: Buffer.of(6, 4, 1, 0),
  });
const withKeys = (
  { keys, ...rest }: TransactionInstruction,
  change: (key: AccountMeta) => Partial<AccountMeta>,
) => new TransactionInstruction({ ...rest, keys: keys.map((key) => ({ ...key, ...change(key) })) });
const withoutSigners = (instruction: TransactionInstruction) =>
  withKeys(instruction, () => ({ isSigner: false }));
const withSigner = (instruction: TransactionInstruction) => withKeys(instruction, () => ({ isSigner: true }));
const withWritable = (instruction: TransactionInstruction, account: string) =>
  withKeys(instruction, ({ pubkey, isWritable }) => ({
    isWritable: isWritable || pubkey.toBase58() === account,
  }));

/** By the instructions of a payment of x402. */
export const REFUSED_INSTRUCTIONS: [string, TransactionInstruction[], string][] = [
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
    [limit(), price(), pay(), memo('offer-1'), guard(source)],
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
  [
    'a memo that the buyer signs',
    [limit(), price(), pay(), withAccount(memo('offer-1'), address(buyer))],
    'unknown_instruction',
  ],
  [
    'the buyer as a writable account',
    [limit(), price(), withWritable(pay(), address(buyer)), memo('offer-1')],
    'unknown_instruction',
  ],
  [
    'a priority fee that is rounded up above the bound',
    [limit(19_999), price(1_000_051), pay(), memo('offer-1')],
    'transaction_instructions_compute_price_instruction_too_high',
  ],
  [
    'as many instructions as there may be, most of them memos',
    [limit(), price(), pay(), ...Array.from({ length: 13 }, () => memo('offer-1'))],
    'memo_count',
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
];

/** By the signers or the encoding. */
export const REFUSED_BYTES: [string, () => Uint8Array, string][] = [
  ['an account that no instruction names', () => wire(STOCK, { unused: other }), 'unknown_instruction'],
  [
    'an account that no instruction of a legacy message names',
    () => wire(STOCK, { unused: other, version: 'legacy' }),
    'unknown_instruction',
  ],
  [
    'a third signer',
    () =>
      wire([...STOCK, withAccount(memo('x'), other, { isSigner: true, isWritable: false })], {
        signers: [buyer, stranger],
      }),
    'excessive_signers',
  ],
  ['the buyer alone', () => wire(STOCK, { payer: buyer }), 'excessive_signers'],
  [
    'the fee payer of another facilitator',
    () => wire(STOCK, { payer: stranger }),
    'fee_payer_not_managed_by_facilitator',
  ],
  ['no signature of the buyer', () => wire(STOCK, { signers: [] }), 'signature_invalid'],
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
      return wire(STOCK, { tables: [table] });
    },
    'transaction_could_not_be_decoded',
  ],
  ['trailing bytes', () => Buffer.concat([wire(STOCK), Buffer.of(0)]), 'transaction_could_not_be_decoded'],
  ['a missing byte', () => wire(STOCK).subarray(0, -1), 'transaction_could_not_be_decoded'],
  ['no bytes', () => new Uint8Array(), 'transaction_could_not_be_decoded'],
  ['more bytes than a packet has', () => new Uint8Array(1233).fill(1), 'transaction_could_not_be_decoded'],
];

const net = pay({ amountMicro: 48_000n });
const fee = pay({ destination: feeAccount, amountMicro: 2000n });
/** By the instructions after the budget of a payment of MPP. */
export const REFUSED_SPLITS: [string, TransactionInstruction[], string][] = [
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
    [net, memo('offer-1'), pay({ destination: feeAccount, amountMicro: 2000n, source: other }), memo('fee')],
    'unknown_instruction',
  ],
  [
    'the fee from the vendor’s account',
    [net, memo('offer-1'), pay({ destination: feeAccount, amountMicro: 2000n, source: payTo }), memo('fee')],
    'unknown_instruction',
  ],
  ['memos in the other order', [net, memo('fee'), fee, memo('offer-1')], 'memo_mismatch'],
  ['another memo of the fee', [net, memo('offer-1'), fee, memo('other')], 'memo_mismatch'],
];

/** Without a memo in the order. */
export const REFUSED_MEMOS: [string, TransactionInstruction[], string][] = [
  ['a memo that is longer', [memo('x'.repeat(257))], 'memo_mismatch'],
  ['a memo that is not UTF-8', [memo(Buffer.of(0xff))], 'memo_mismatch'],
  ['two memos', [memo('1'), memo('2')], 'memo_count'],
];
/** Where the operator allows guards. The buyer signs by the guard only. */
export const REFUSED_WITH_GUARDS: [string, TransactionInstruction[], string][] = [
  [
    'a transfer that needs the signature of somebody else',
    [withoutSigners(pay({ authority: other })), memo('offer-1'), withSigner(guard(address(buyer)))],
    'signature_invalid',
  ],
];
