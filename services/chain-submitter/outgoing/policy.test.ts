import { describe, expect, test } from '@jest/globals';
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  address,
  buyer,
  delegateAuthority,
  feeAccount,
  limit,
  memo,
  network,
  price,
  stranger,
  withAccount,
  withData,
} from '../../../test/support/fixtures/chain-submitter/incoming-messages.ts';
import { PROGRAMS, tokenAccountOf } from '../chain/addresses.ts';
import { PaymentRefusal } from '../payments/refusal.ts';
import { compileMessage, compileMessageV0 } from '../transactions/compile-message.ts';
import { transferChecked } from '../transactions/instructions/transfer-checked.ts';
import { decodeAnyMessage } from '../transactions/message.ts';
import { PolicyError } from '../transactions/policy.ts';
import { buildOutgoingMessage } from './message.ts';
import { checkOutgoingPolicy, checkParties } from './policy.ts';
import { grossOf, type OutgoingLeg, type OutgoingTerms, termsOf } from './terms.ts';

const someone = () => address(Keypair.generate());
const { mint } = network;
const [owner, payTo, feePayer] = [address(buyer), someone(), address(stranger)];
const blockhash = someone();
const terms: OutgoingTerms = {
  owner,
  authority: address(delegateAuthority),
  feePayer,
  source: tokenAccountOf(owner, mint),
  legs: [{ payTo, destination: tokenAccountOf(payTo, mint), amountMicro: 50_000n, memo: 'offer-1' }],
  units: 20_000,
};
const [leg] = terms.legs as [OutgoingLeg];
/** The terms with a change of the only leg. */
const withLeg = (changes: Partial<OutgoingLeg>): Partial<OutgoingTerms> => ({
  legs: [{ ...leg, ...changes }],
});
/** What is transferred to the payee. */
const transfer = {
  mint,
  source: terms.source,
  destination: leg.destination,
  authority: terms.authority,
  amountMicro: leg.amountMicro,
};
/** The identity element of the curve: a point of small order that is no program’s address. */
const SMALL_ORDER = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';

const VAULT = tokenAccountOf(payTo, mint);
/** Token accounts have no key. The rules about them must not depend on that. */
const [sourceKey, destinationKey] = [someone(), someone()];

describe('checkParties', () => {
  const evaluate = (changes: Partial<OutgoingTerms>): string => {
    try {
      checkParties({ ...terms, ...changes }, network);
      return 'allowed';
    } catch (error) {
      if (!(error instanceof PaymentRefusal)) throw error;
      return error.reason;
    }
  };

  test.each<[string, Partial<OutgoingTerms>, string]>([
    ['a payment to a vendor', {}, 'allowed'],
    ['a vendor that pays the fee itself', { feePayer: payTo }, 'allowed'],
    ['a fee payer of this deployment', { feePayer: network.feePayer }, 'allowed'],
    ['a former fee payer of this deployment', { feePayer: network.feePayers[1]! }, 'allowed'],
    ['a payee that is a multisig vault', withLeg({ payTo: VAULT }), 'allowed'],
    ['an authority of another deployment', { authority: someone() }, 'delegation_inactive'],
    ['the platform as the payer', { owner: network.feeWallet }, 'delegation_inactive'],
    ['the payer as the payee', withLeg({ payTo: owner }), 'payee_not_allowed'],
    ['the fee wallet as the payee', withLeg({ payTo: network.feeWallet }), 'payee_not_allowed'],
    ['the fee account as the payee', withLeg({ payTo: feeAccount }), 'payee_not_allowed'],
    ['an authority as the payee', withLeg({ payTo: terms.authority }), 'payee_not_allowed'],
    ['a fee payer of ours as the payee', withLeg({ payTo: network.feePayer }), 'payee_not_allowed'],
    [
      'the platform as a further payee',
      { legs: [leg, { ...leg, payTo: network.feeWallet }] },
      'payee_not_allowed',
    ],
    ['the payer as a further payee', { legs: [leg, { ...leg, payTo: owner }] }, 'payee_not_allowed'],
    [
      'a further destination as the fee payer',
      { feePayer: destinationKey, legs: [leg, { ...leg, destination: destinationKey }] },
      'fee_payer_not_allowed',
    ],
    ['a program as the payee', withLeg({ payTo: PROGRAMS.memo }), 'payee_not_allowed'],
    ['a payee of small order', withLeg({ payTo: SMALL_ORDER }), 'payee_not_allowed'],
    ['the owner as the fee payer', { feePayer: owner }, 'fee_payer_not_allowed'],
    ['the source as the fee payer', { feePayer: sourceKey, source: sourceKey }, 'fee_payer_not_allowed'],
    [
      'the destination as the fee payer',
      { feePayer: destinationKey, ...withLeg({ destination: destinationKey }) },
      'fee_payer_not_allowed',
    ],
    ['the authority as the fee payer', { feePayer: terms.authority }, 'fee_payer_not_allowed'],
    ['the fee wallet as the fee payer', { feePayer: network.feeWallet }, 'fee_payer_not_allowed'],
    ['a program as the fee payer', { feePayer: PROGRAMS.memo }, 'fee_payer_not_allowed'],
    ['a fee payer of small order', { feePayer: SMALL_ORDER }, 'fee_payer_not_allowed'],
    ['a fee payer without a key', { feePayer: VAULT }, 'fee_payer_not_allowed'],
  ])('%s', (_name, changes, expected) => {
    expect(evaluate(changes)).toBe(expected);
  });
});

const signedMemo = (): TransactionInstruction => {
  return withAccount(memo('offer-1'), someone(), { isSigner: true, isWritable: false });
};
const approvalOf = (): TransactionInstruction => {
  const { keys, programId } = transferChecked(transfer);
  // Instruction 13 of the token program is ApproveChecked.
  const data = Buffer.alloc(10);
  data.writeUInt8(13, 0);
  return new TransactionInstruction({ keys, programId, data });
};
const otherProgram = (): TransactionInstruction => {
  return new TransactionInstruction({
    programId: new PublicKey(someone()),
    keys: [],
    data: Buffer.from('offer-1'),
  });
};

describe('checkOutgoingPolicy', () => {
  type Transfer = Partial<Parameters<typeof transferChecked>[0]>;
  const pay = (changes: Transfer = {}) => transferChecked({ ...transfer, ...changes });
  const compile = (instructions: TransactionInstruction[], payer = feePayer) =>
    compileMessageV0(instructions, { feePayer: payer, blockhash });
  const evaluate = (bytes: Uint8Array, expected = terms): string => {
    try {
      checkOutgoingPolicy(bytes, expected, mint);
      return 'allowed';
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      return error.message;
    }
  };
  const stock = [limit(), price(), pay(), memo('offer-1')];

  test('the built message, whatever its blockhash', () => {
    const built = buildOutgoingMessage(terms, { mint, blockhash });
    expect(evaluate(built)).toBe('allowed');
    expect(Buffer.from(built).equals(Buffer.from(compile(stock)))).toBe(true);
    const { signers, instructions } = decodeAnyMessage(built);
    expect(signers).toEqual([feePayer, terms.authority]);
    expect(instructions.map(({ accounts }) => accounts.length)).toEqual([0, 0, 4, 0]);
  });

  /** A read-only account of the message is made writable by its header. */
  const withWritableMint = () => {
    const bytes = Uint8Array.from(compile(stock));
    // Version, signatures, read-only signers, read-only accounts.
    bytes[3] = bytes[3]! - 1;
    return bytes;
  };

  test.each<[string, Uint8Array, string]>([
    ['a legacy message', compileMessage(stock, { feePayer, blockhash }), 'not a message of version 0'],
    ['another fee payer', compile(stock, someone()), 'other signers'],
    ['a third signer', compile([limit(), price(), pay(), signedMemo()]), 'other signers'],
    ['no memo', compile(stock.slice(0, 3)), 'expected a memo'],
    ['two transfers', compile([...stock, pay()]), 'another number of instructions'],
    ['no limit', compile([price(), price(2), pay(), memo('offer-1')]), 'expected computeUnitLimit'],
    ['no price', compile([limit(), limit(1), pay(), memo('offer-1')]), 'expected computeUnitPrice'],
    [
      'another limit',
      compile([limit(20_001), price(), pay(), memo('offer-1')]),
      'another compute unit limit',
    ],
    ['another price', compile([limit(), price(2), pay(), memo('offer-1')]), 'another compute unit price'],
    [
      'another instruction instead of the transfer',
      compile([limit(), price(), approvalOf(), memo('offer-1')]),
      'expected transferChecked',
    ],
    ['another mint', compile([limit(), price(), pay({ mint: someone() }), memo('offer-1')]), 'another mint'],
    [
      'other decimals',
      compile([limit(), price(), withData(pay(), (data) => data.writeUInt8(9, 9)), memo('offer-1')]),
      'another mint',
    ],
    [
      'another source',
      compile([limit(), price(), pay({ source: someone() }), memo('offer-1')]),
      'another source',
    ],
    [
      'another destination',
      compile([limit(), price(), pay({ destination: someone() }), memo('offer-1')]),
      'another destination',
    ],
    [
      'another amount',
      compile([limit(), price(), pay({ amountMicro: 50_001n }), memo('offer-1')]),
      'another amount',
    ],
    [
      'a fifth account',
      compile([limit(), price(), pay({ reference: someone() }), memo('offer-1')]),
      'the transfer has a reference',
    ],
    ['another memo', compile([limit(), price(), pay(), memo('offer-2')]), 'another memo'],
    ['a longer memo', compile([limit(), price(), pay(), memo('offer-1 ')]), 'another memo'],
    [
      'another program instead of the memo',
      compile([limit(), price(), pay(), otherProgram()]),
      'expected a memo',
    ],
    [
      'a memo that names an account',
      compile([limit(), price(), pay(), withAccount(memo('offer-1'), someone())]),
      'the memo names accounts',
    ],
    ['a writable mint', withWritableMint(), 'another account is writable'],
    ['bytes that are no message', Uint8Array.of(0x80, 1), 'The message is too short.'],
  ])('refuses %s', (_name, bytes, expected) => {
    expect(evaluate(bytes)).toBe(expected);
  });

  test('refuses a transfer to the fee payer’s address, even if the terms say so', () => {
    const given = { ...terms, ...withLeg({ destination: feePayer }) };
    expect(evaluate(buildOutgoingMessage(given, { mint, blockhash }), given)).toBe(
      'an instruction names the fee payer',
    );
  });

  test('refuses another authority that signs in the place of the expected one', () => {
    const other = someone();
    const bytes = compile([limit(), price(), pay({ authority: other }), memo('offer-1')]);
    expect(evaluate(bytes)).toBe('other signers');
    // The expected authority signs, and the transfer is by the fee payer.
    const byFeePayer = withAccount(transferChecked({ ...transfer, authority: feePayer }), terms.authority, {
      isSigner: true,
      isWritable: false,
    });
    expect(evaluate(compile([limit(), price(), byFeePayer, memo('offer-1')]))).toBe('another authority');
  });
});

describe('checkOutgoingPolicy of a payment with splits', () => {
  const to = (micro: bigint, text: string | null): OutgoingLeg => {
    const payee = someone();
    return { payTo: payee, destination: tokenAccountOf(payee, mint), amountMicro: micro, memo: text };
  };
  const legs = [{ ...leg, memo: null }, to(300n, 'split-1'), to(200n, null)];
  const split = { ...terms, legs, units: 60_000 };
  const pays = ({ destination, amountMicro }: OutgoingLeg) =>
    transferChecked({ ...transfer, destination, amountMicro });
  const evaluate = (instructions: TransactionInstruction[], expected: OutgoingTerms = split): string => {
    try {
      checkOutgoingPolicy(compileMessageV0(instructions, { feePayer, blockhash }), expected, mint);
      return 'allowed';
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      return error.message;
    }
  };
  const [first, second, third] = legs as [OutgoingLeg, OutgoingLeg, OutgoingLeg];
  const start = [limit(60_000), price()];

  test('the built message', () => {
    const built = buildOutgoingMessage(split, { mint, blockhash });
    expect(() => checkOutgoingPolicy(built, split, mint)).not.toThrow();
    expect(grossOf(split)).toBe(50_500n);
  });

  test('nine transfers with 256 bytes of memos fit into a transaction', () => {
    const nine = Array.from({ length: 9 }, () => to(1n, 'x'.repeat(28)));
    const built = buildOutgoingMessage({ ...terms, legs: nine, units: 180_000 }, { mint, blockhash });
    // The count of signatures, and two of them.
    expect(1 + 2 * 64 + built.length).toBeLessThanOrEqual(1232);
  });

  test.each<[string, TransactionInstruction[], string]>([
    ['a missing split', [...start, pays(first), pays(second), memo('split-1')], 'expected transferChecked'],
    [
      'splits in another order',
      [...start, pays(first), pays(third), pays(second), memo('split-1')],
      'another destination',
    ],
    [
      'a memo where none is expected',
      [...start, pays(first), memo('more'), pays(second), memo('split-1'), pays(third)],
      'This service does not sign instructions of this form.',
    ],
    [
      'one more transfer',
      [...start, pays(first), pays(second), memo('split-1'), pays(third), pays(third)],
      'another number of instructions',
    ],
    [
      'another amount of a split',
      [...start, pays(first), pays({ ...second, amountMicro: 301n }), memo('split-1'), pays(third)],
      'another amount',
    ],
    [
      'the limit of one transfer',
      [limit(), price(), pays(first), pays(second), memo('split-1'), pays(third)],
      'another compute unit limit',
    ],
  ])('refuses %s', (_name, instructions, expected) => {
    expect(evaluate(instructions)).toBe(expected);
  });

  test('refuses more compute units than vendors accept, even if the terms say so', () => {
    const parts = [limit(200_001), price(), pays(first), pays(second), memo('split-1'), pays(third)];
    expect(evaluate(parts, { ...split, units: 200_001 })).toBe('another compute unit limit');
  });
});

describe('termsOf', () => {
  const request = {
    settlement_id: 'stl_1',
    account_id: 'acct_1',
    owner,
    authority: terms.authority,
    pay_to: payTo,
    fee_payer: feePayer,
    amount: '50000',
    memo: 'offer-1',
  };

  test('the token accounts are derived from the owner and the payee', () => {
    expect(termsOf('out:acct_1:evt_1', request, mint)).toEqual(terms);
  });

  test('without a memo, it is a hash of the attempt', () => {
    const memoOf = (id: string) => termsOf(id, { ...request, memo: null }, mint).legs[0]!.memo;
    expect(memoOf('out:acct_1:evt_1')).toMatch(/^[0-9a-f]{32}$/);
    expect(memoOf('out:acct_1:evt_1')).not.toBe(memoOf('out:acct_1:evt_2'));
    expect(memoOf('out:acct_1:evt_1')).toBe(memoOf('out:acct_1:evt_1'));
  });

  test('of MPP the payee gets the amount without the splits, and there is no memo but the vendor’s', () => {
    const [one, other] = [someone(), someone()];
    const splits = [
      { pay_to: one, amount: '300', memo: 'split-1' },
      { pay_to: other, amount: '200', memo: null },
    ];
    const { legs, units } = termsOf('out:acct_1:evt_1', { ...request, memo: null, splits }, mint);
    expect(legs.map(({ payTo: to, amountMicro, memo: text }) => [to, amountMicro, text])).toEqual([
      [payTo, 49_500n, null],
      [one, 300n, 'split-1'],
      [other, 200n, null],
    ]);
    expect(units).toBe(60_000);
    const all = [{ pay_to: one, amount: '50000', memo: null }];
    expect(() => termsOf('out:acct_1:evt_1', { ...request, splits: all }, mint)).toThrow(RangeError);
  });
});
