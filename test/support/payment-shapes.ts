import { AddressLookupTableAccount, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { Changes, TokenChange } from '../../services/chain-submitter/chain/simulated-outcome.ts';
import { type Decoded, decodeIncoming } from '../../services/chain-submitter/incoming/envelope.ts';
import { checkIncomingPolicy, type IncomingTerms } from '../../services/chain-submitter/incoming/policy.ts';
import {
  checkWalletBytes,
  checkWalletChanges,
  isOfSmartWallet,
  type WalletPayment,
} from '../../services/chain-submitter/incoming/wallet-policy.ts';
import { PROGRAMS, WALLET_PROGRAMS } from '../../services/chain-submitter/ledger/model/programs.ts';
import { PaymentRefusal } from '../../services/chain-submitter/payments/refusal.ts';
import { NO_TABLES } from '../../services/chain-submitter/transactions/message.ts';
import type { IncomingReason } from '../../shared/contract/chain-submitter.ts';
import {
  address,
  buyer,
  feeAccount,
  feePayerKey,
  limit,
  memo,
  multisig,
  network,
  other,
  pay,
  payTo,
  price,
  source,
  stranger,
  wire,
  withAccount,
} from './incoming-messages.ts';

/**
 * The shapes in which wallets send payments, with what the policy answers. The table in
 * docs/x402.md is generated from them, and a test evaluates each.
 */

/** `signed`, or the reason of the refusal. */
type Answer = 'signed' | IncomingReason;
type Shape = { shape: string; answer: Answer; why: string; evaluate: () => unknown };
type Build = { tables?: AddressLookupTableAccount[]; unread?: boolean };

const ORDER: IncomingTerms = { legs: [{ destination: payTo, amountMicro: 50_000n }], memos: ['offer-1'] };
const programs = new Set<string>(Object.values(WALLET_PROGRAMS).flat());
const known = { network, programs };
const around = (...instructions: TransactionInstruction[]) => [
  limit(),
  price(),
  ...instructions,
  memo('offer-1'),
];

/**
 * Judges by the bytes, or by what a simulation says. As
 * services/chain-submitter/incoming/signed-payment.ts chooses.
 */
const judge = (decoded: Decoded, simulated: Simulated = {}, order = ORDER) => {
  if (!isOfSmartWallet(decoded.plain, programs)) return checkIncomingPolicy(decoded, order, known);
  const payment = checkWalletBytes(decoded, order, known);
  return checkWalletChanges(payment, changesOf(payment, simulated), order, known);
};

const byBytes = (instructions: TransactionInstruction[], { tables = [], unread = false }: Build = {}) => {
  const read = new Map(
    tables.map(({ key, state }) => [key.toBase58(), state.addresses.map((one) => one.toBase58())]),
  );
  return judge(decodeIncoming(wire(instructions, { tables }), unread ? NO_TABLES : read));
};

const tableOf = (...addresses: string[]) =>
  new AddressLookupTableAccount({
    key: stranger.publicKey,
    state: {
      ...{ deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 },
      addresses: addresses.map((one) => new PublicKey(one)),
    },
  });

const MULTI_INFO = 6;
/** The assertions about the data, the info and the token account of one account. */
const ASSERTIONS = [2, 3, 5, MULTI_INFO, 9, 10];
const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
/** A guard of Lighthouse. */
const guard = (account: string, assertion = MULTI_INFO) =>
  new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.lighthouse),
    keys: [{ pubkey: new PublicKey(account), isSigner: false, isWritable: false }],
    data: Buffer.from([assertion, 4, 1, 0]),
  });

const vault = new PublicKey(Buffer.alloc(32, 7)).toBase58();
const state = new PublicKey(Buffer.alloc(32, 8)).toBase58();
const [SWIG] = WALLET_PROGRAMS.swig;
/** An instruction by which a smart wallet pays, with these accounts beside the usual ones. */
const walletPay = (...more: string[]) =>
  new TransactionInstruction({
    programId: new PublicKey(SWIG),
    keys: [source, network.mint, payTo, vault, state, address(buyer), PROGRAMS.token, ...more].map((key) => ({
      pubkey: new PublicKey(key),
      isSigner: key === address(buyer),
      isWritable: key === source || key === payTo,
    })),
    data: Buffer.of(11),
  });

type Simulated = Partial<Omit<Changes, 'tokens' | 'accounts'>> & {
  tokens?: (Partial<TokenChange> & { address: string })[];
  owners?: Record<string, Changes['accounts'][number]>;
};
const PAID = [
  { address: source, deltaMicro: -50_000n },
  { address: payTo, deltaMicro: 50_000n },
];
/** What a simulation says of a payment. */
const changesOf = ({ accounts, unknown }: WalletPayment, simulated: Simulated): Changes => ({
  tokens: (simulated.tokens ?? PAID).map(({ address: key, ...change }) => ({
    ...{ account: accounts.indexOf(key), mint: network.mint, owner: vault, program: PROGRAMS.token },
    ...{ deltaMicro: 0n, ...change },
  })),
  feePayerLamports: simulated.feePayerLamports ?? 10_001n,
  accounts: unknown.map((key) => {
    if (simulated.owners && key in simulated.owners) return simulated.owners[key]!;
    return key === state ? { owner: SWIG, executable: false } : null;
  }),
});

const byWallet = (instructions: TransactionInstruction[], simulated: Simulated = {}, order = ORDER) =>
  judge(decodeIncoming(wire(instructions)), simulated, order);

const ofGuards: Shape[] = [
  {
    shape: 'One guard (Phantom)',
    answer: 'signed',
    why: 'It only asserts, of an account of the buyer.',
    evaluate: () => {
      for (const assertion of ASSERTIONS) byBytes([...around(pay()), guard(source, assertion)]);
    },
  },
  {
    shape: 'Two guards (Solflare)',
    answer: 'signed',
    why: 'The same. Six are allowed, in any place after the budget.',
    evaluate: () => {
      byBytes([...around(guard(address(buyer)), pay()), guard(source, 10)]);
      byBytes([...around(pay()), ...Array.from({ length: 6 }, () => guard(source))]);
    },
  },
  {
    shape: 'Seven guards',
    answer: 'unknown_instruction',
    why: 'No wallet adds so many.',
    evaluate: () => byBytes([...around(pay()), ...Array.from({ length: 7 }, () => guard(source))]),
  },
  {
    shape: 'A guard that names an account of somebody else',
    answer: 'unknown_instruction',
    why: 'Its owner could make the transaction fail, at the cost of the fee payer.',
    evaluate: () => byBytes([...around(pay()), guard(payTo)]),
  },
  {
    shape: 'A guard that names several accounts',
    answer: 'unknown_instruction',
    why: 'The assertions that are accepted are about one.',
    evaluate: () => byBytes([...around(pay()), withAccount(guard(source), address(buyer))]),
  },
  {
    shape: 'A guard about the time, a mint, or what Lighthouse has stored',
    answer: 'unknown_instruction',
    why: 'It holds in a simulation and not in a block.',
    evaluate: () => byBytes([...around(pay()), guard(source, 15)]),
  },
  {
    shape: 'An instruction by which Lighthouse writes',
    answer: 'unknown_instruction',
    why: 'It does more than assert.',
    evaluate: () => byBytes([...around(pay()), guard(source, 0)]),
  },
];

const ofTables: Shape[] = [
  {
    shape: 'Lookup tables',
    answer: 'signed',
    why: 'They are read as of the finalized block of every provider, and what is in them never changes.',
    evaluate: () => byBytes(around(pay()), { tables: [tableOf(payTo, source, network.mint)] }),
  },
  {
    shape: 'A lookup table that is missing, deactivated or younger than the finalized block',
    answer: 'transaction_could_not_be_decoded',
    why: 'It could have other accounts when the transaction is included.',
    evaluate: () => byBytes(around(pay()), { tables: [tableOf(payTo)], unread: true }),
  },
  {
    shape: 'The fee payer in a lookup table',
    answer: 'transaction_could_not_be_decoded',
    why: 'The message names it twice.',
    evaluate: () => {
      const transfer = withAccount(pay(), other);
      const tables = [tableOf(other)];
      const bytes = wire(around(transfer), { tables });
      return checkIncomingPolicy(
        decodeIncoming(bytes, new Map([[address(stranger), [address(feePayerKey)]]])),
        ORDER,
        known,
      );
    },
  },
  {
    shape: 'A lookup table with an account that no transfer needs',
    answer: 'unknown_instruction',
    why: 'It may be the reference of a quote.',
    evaluate: () => {
      const unneeded = new PublicKey(Buffer.alloc(32, 9)).toBase58();
      return byBytes(around(withAccount(pay(), unneeded)), { tables: [tableOf(unneeded, payTo)] });
    },
  },
];

const ofWallets: Shape[] = [
  {
    shape: 'A smart wallet of Swig or Squads with one holder',
    answer: 'signed',
    why: 'At every provider, a simulation changes exactly the balances of the source and the payees.',
    evaluate: () =>
      byWallet(around(walletPay(PROGRAMS.system, PROGRAMS.tokenAccount, CLOCK)), {
        owners: { [CLOCK]: { owner: 'Sysvar1111111111111111111111111111111111111', executable: false } },
      }),
  },
  {
    shape: 'A smart wallet with guards',
    answer: 'signed',
    why: 'The guards are about its holder, its vault or its token account.',
    evaluate: () => byWallet([...around(walletPay()), guard(vault), guard(source)]),
  },
  {
    shape: 'A smart wallet with a guard that names an account of somebody else',
    answer: 'unknown_instruction',
    why: 'As without a smart wallet.',
    evaluate: () => byWallet([...around(walletPay()), guard(payTo)]),
  },
  {
    shape: 'A smart wallet that calls guards itself',
    answer: 'unknown_instruction',
    why: 'Nobody can check of what they assert something: the time, or an account of somebody else.',
    evaluate: () => byWallet([...around(walletPay(PROGRAMS.lighthouse)), guard(vault)]),
  },
  {
    shape: 'A smart wallet that pays another amount, or another payee',
    answer: 'amount_mismatch',
    why: 'The payee does not get exactly its amount.',
    evaluate: () =>
      byWallet(around(walletPay()), {
        tokens: [
          { address: source, deltaMicro: -49_999n },
          { address: payTo, deltaMicro: 49_999n },
        ],
      }),
  },
  {
    shape: 'A smart wallet that gives a payee the amount of another',
    answer: 'amount_mismatch',
    why: 'The same, although the sum is right.',
    evaluate: () => {
      const legs = [
        { destination: payTo, amountMicro: 49_000n },
        { destination: feeAccount, amountMicro: 1000n },
      ];
      const tokens = [
        { address: source, deltaMicro: -50_000n },
        { address: payTo, deltaMicro: 1000n },
        { address: feeAccount, deltaMicro: 49_000n },
      ];
      return byWallet(around(walletPay(feeAccount)), { tokens }, { legs, memos: ORDER.memos });
    },
  },
  {
    shape: 'A smart wallet that also pays somebody else',
    answer: 'amount_mismatch',
    why: 'Another balance changes.',
    evaluate: () => byWallet(around(walletPay()), { tokens: [...PAID, { address: vault, deltaMicro: 1n }] }),
  },
  {
    shape: 'A smart wallet that moves another token',
    answer: 'mint_mismatch',
    why: 'The balance of another token changes.',
    evaluate: () =>
      byWallet(around(walletPay()), { tokens: [...PAID, { address: vault, deltaMicro: 1n, mint: other }] }),
  },
  {
    shape: 'A program gets the fee payer',
    answer: 'transaction_fee_payer_transferring_funds',
    why: 'A program has the rights of the accounts that it gets. Without it, no program can use our signature.',
    evaluate: () => byWallet(around(walletPay(address(feePayerKey)))),
  },
  {
    shape: 'A program gets an account of the platform',
    answer: 'transaction_fee_payer_transferring_funds',
    why: 'Only a payee may be one.',
    evaluate: () => byWallet(around(walletPay(feeAccount))),
  },
  {
    shape: 'The fee payer loses more than the fee',
    answer: 'transaction_fee_payer_transferring_funds',
    why: 'The simulation shows its balance.',
    evaluate: () => byWallet(around(walletPay()), { feePayerLamports: 10_002n }),
  },
  {
    shape: 'A smart wallet pays from an account of the platform',
    answer: 'transaction_fee_payer_transferring_funds',
    why: 'The owner of the source is read from the simulation.',
    evaluate: () =>
      byWallet(around(walletPay()), { tokens: PAID.map((one) => ({ ...one, owner: network.feeWallet })) }),
  },
  {
    shape: 'A smart wallet pays from an account whose owner the provider does not say',
    answer: 'transaction_fee_payer_transferring_funds',
    why: 'It may be an account of the platform.',
    evaluate: () => byWallet(around(walletPay()), { tokens: PAID.map((one) => ({ ...one, owner: null })) }),
  },
  {
    shape: 'A smart wallet names an address without an account',
    answer: 'unknown_instruction',
    why: 'It may be the reference of a quote, which no program can own.',
    evaluate: () => byWallet(around(walletPay(other))),
  },
  {
    shape: 'A smart wallet names an address that is no account of its program',
    answer: 'unknown_instruction',
    why: 'The same: anybody can send lamports to a reference.',
    evaluate: () =>
      byWallet(around(walletPay(other)), {
        owners: { [other]: { owner: PROGRAMS.system, executable: false } },
      }),
  },
  {
    shape: 'A smart wallet calls a program that is not listed',
    answer: 'unknown_instruction',
    why: 'It could do something else in a block than in a simulation.',
    evaluate: () =>
      byWallet(around(walletPay(other)), { owners: { [other]: { owner: SWIG, executable: true } } }),
  },
  {
    shape: 'A program that is not listed, or a transfer beside the smart wallet',
    answer: 'unknown_instruction',
    why: 'Only memos and guards may stand beside it.',
    evaluate: () => byWallet(around(walletPay(), pay())),
  },
];

const ofOthers: Shape[] = [
  {
    shape: 'A smart wallet with several holders',
    answer: 'excessive_signers',
    why: 'A payment has the signature of one buyer.',
    evaluate: () => {
      const second = withAccount(walletPay(), other, { isSigner: true, isWritable: false });
      const bytes = wire(around(second), { signers: [buyer, stranger] });
      return checkWalletBytes(decodeIncoming(bytes), ORDER, known);
    },
  },
  {
    shape: 'A smart wallet with a passkey',
    answer: 'unknown_instruction',
    why: 'The program that verifies the passkey is not listed.',
    evaluate: () => {
      const programId = new PublicKey('Secp256r1SigVerify1111111111111111111111111');
      const verify = new TransactionInstruction({ programId, keys: [], data: Buffer.of(1) });
      return byWallet(around(verify, walletPay()));
    },
  },
  {
    shape: 'A multisig account of the Token program',
    answer: 'unknown_instruction',
    why: 'Its transfer names more accounts than the policy reads.',
    evaluate: () => byBytes(around(multisig())),
  },
];

/** All shapes beside those of stock clients, in the order of the document. */
export const SHAPES: readonly Shape[] = [...ofGuards, ...ofTables, ...ofWallets, ...ofOthers];

/** What the policy answers to a shape. */
export const answerTo = ({ evaluate }: Shape): Answer => {
  try {
    evaluate();
    return 'signed';
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return error.reason as IncomingReason;
  }
};
