import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { PROGRAMS, WALLET_PROGRAMS } from '../../../services/chain-submitter/ledger/model/programs.ts';
import { asm, linkProgram } from '../servers/elf.ts';

/**
 * Programs that stand for those of wallets, whose binaries are not available to the tests:
 *
 * - Lighthouse: a guard whose data has an odd length fails.
 * - Swig: a wallet that pays by its vault what the instruction says. Its other id does nothing.
 * - Squads Smart Account: a thief that moves lamports of our fee payer, if it gets it.
 *
 * What they do not show is that the real programs accept the instructions of their clients.
 */

/** Where the chain puts the input of a program, and a program its own data. */
const INPUT = 0x4_0000_0000n;
const HEAP = 0x3_0000_0000n;
const GROWTH = 10_240;
/** What precedes the data of an account in the input: flags, key, owner, lamports, length. */
const ACCOUNT_HEAD = 88;
const [KEY, OWNER, LAMPORTS, LENGTH] = [8, 40, 72, 80] as const;

/** Where accounts with data of these lengths begin in the input, and where the next one does. */
const placesOf = (lengths: readonly number[]): number[] => {
  const places = [8];
  for (const length of lengths)
    places.push(places.at(-1)! + ACCOUNT_HEAD + Math.ceil((length + GROWTH) / 8) * 8 + 8);
  return places;
};

/** Stores words one after the other. The address is in register 6, and 7 is used. */
const storeAll = (at: bigint, words: readonly bigint[]): Buffer[] => [
  asm.constant(6, at),
  ...words.flatMap((value, index) => [asm.constant(7, value), asm.store(6, 7, 8 * index)]),
];

/** The description of an account for a call: its pointers and rights. */
const accountInfo = (place: number, length: number, rights: bigint): bigint[] => {
  const at = INPUT + BigInt(place);
  return [
    ...[at + BigInt(KEY), at + BigInt(LAMPORTS), BigInt(length), at + BigInt(ACCOUNT_HEAD)],
    ...[at + BigInt(OWNER), 2n ** 64n - 1n, rights],
  ];
};

const wordsOf = (text: string): bigint[] => {
  const bytes = Buffer.from(bs58.decode(text));
  return [0, 8, 16, 24].map((at) => bytes.readBigUInt64LE(at));
};

/** Places in the heap. */
const [CALL, METAS, INFOS, DATA, SEEDS, SEED, BUMP, PROGRAM] = [
  ...[0n, 64n, 128n, 512n, 576n, 608n, 656n, 704n].map((offset) => HEAP + offset),
] as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];

const READ = 0n;
const WRITES = 1n;
const SIGNS = 256n;
/** A token account, the mint, a token account, a vault, a wallet, its holder. */
const LENGTHS = [165, 82, 165, 0, 8, 0];
const WALLET_BYTES = 8;
const BUMP_SEED = 255;
const TRANSFER_CHECKED = 12n;
/** Lamports that the thief takes. */
export const STOLEN = 1000;
/** The error of Lighthouse for a guard that does not hold. */
const ASSERTION_FAILED = 0x1900;

/** Transfers the amount in the instruction's first eight bytes, signed by the wallet's vault. */
const wallet = (): Buffer => {
  const places = placesOf(LENGTHS) as [number, number, number, number, number, number, number];
  const [source, mint, destination, vault, state, holder, token] = places;
  const key = (place: number) => INPUT + BigInt(place + KEY);
  return linkProgram(
    [
      // The holder must sign.
      asm.constant(8, INPUT),
      asm.constant(6, BigInt(holder)),
      asm.addRegister(6, 8),
      asm.loadByte(7, 6, 1),
      asm.skipIf(7, 1, 3),
      asm.constant(0, 1n),
      asm.exit(),
      // The instruction's data follow the last account, whose length the file does not know.
      asm.constant(6, BigInt(token)),
      asm.addRegister(6, 8),
      asm.load(7, 6, LENGTH),
      asm.add(7, ACCOUNT_HEAD + GROWTH + 7),
      asm.and(7, -8),
      asm.add(7, 8),
      asm.addRegister(6, 7),
      asm.load(9, 6, 8),
      ...storeAll(CALL, [PROGRAM, METAS, 4n, DATA, 10n]),
      ...storeAll(METAS, [key(source), WRITES, key(mint), READ, key(destination), WRITES, key(vault), SIGNS]),
      ...storeAll(INFOS, [
        ...accountInfo(source, 165, WRITES * 256n),
        ...accountInfo(mint, 82, READ),
        ...accountInfo(destination, 165, WRITES * 256n),
        ...accountInfo(vault, 0, READ),
      ]),
      ...storeAll(PROGRAM, wordsOf(PROGRAMS.token)),
      ...storeAll(SEEDS, [SEED, 2n]),
      ...storeAll(SEED, [key(state), 32n, BUMP, 1n]),
      ...storeAll(BUMP, [BigInt(BUMP_SEED)]),
      // The number of the instruction, the amount, the decimals.
      ...storeAll(DATA, [TRANSFER_CHECKED, 6n << 8n]),
      asm.constant(6, DATA + 1n),
      asm.store(6, 9),
      asm.constant(6, DATA + 9n),
      asm.constant(7, 6n),
      asm.store(6, 7),
      asm.constant(1, CALL),
      asm.constant(2, INFOS),
      asm.constant(3, 4n),
      asm.constant(4, SEEDS),
      asm.constant(5, 1n),
      asm.call(),
      asm.exit(),
    ],
    'sol_invoke_signed_c',
  );
};

/**
 * Moves lamports of the victim to its first account, with the victim's signature. That succeeds if
 * its second account is the victim and signs.
 */
const thief = (victim: string): Buffer => {
  const [to, from] = placesOf([0, 0]) as [number, number];
  return linkProgram(
    [
      ...storeAll(CALL, [PROGRAM, METAS, 2n, DATA, 12n]),
      ...storeAll(METAS, [SEEDS, WRITES + SIGNS, INPUT + BigInt(to + KEY), WRITES]),
      ...storeAll(SEEDS, wordsOf(victim)),
      ...storeAll(INFOS, [...accountInfo(from, 0, WRITES * 256n + 1n), ...accountInfo(to, 0, WRITES * 256n)]),
      ...storeAll(PROGRAM, wordsOf(PROGRAMS.system)),
      ...storeAll(DATA, [2n + (BigInt(STOLEN) << 32n), 0n]),
      asm.constant(1, CALL),
      asm.constant(2, INFOS),
      asm.constant(3, 2n),
      asm.constant(4, 0n),
      asm.constant(5, 0n),
      asm.call(),
      asm.exit(),
    ],
    'sol_invoke_signed_c',
  );
};

/** Fails if its instruction's data have an odd length. It has one account of 165 or 0 bytes. */
const guards = (): Buffer =>
  linkProgram([
    asm.constant(8, INPUT + 8n),
    asm.load(7, 8, LENGTH),
    asm.add(7, ACCOUNT_HEAD + GROWTH + 7),
    asm.and(7, -8),
    asm.add(7, 8),
    asm.addRegister(8, 7),
    asm.load(0, 8),
    asm.and(0, 1),
    asm.multiply(0, ASSERTION_FAILED),
    asm.exit(),
  ]);

const nothing = (): Buffer => linkProgram([asm.constant(0, 0n), asm.exit()]);

/** The stand-in for Lighthouse alone. */
export const lighthouse = () => ({ id: PROGRAMS.lighthouse, elf: guards() });

export const SWIG = WALLET_PROGRAMS.swig[0];
/** A listed program that succeeds and does nothing. */
export const IDLE = WALLET_PROGRAMS.swig[1];
export const SMART_ACCOUNT = WALLET_PROGRAMS.squads[1];

/** @param victim whose lamports the program in the place of Squads wants */
export const standIns = (victim: string) => [
  lighthouse(),
  { id: SWIG, elf: wallet() },
  { id: IDLE, elf: nothing() },
  { id: SMART_ACCOUNT, elf: thief(victim) },
];

/** An instruction of the thief. `from` is what it gets beside the account that receives. */
export const steal = (to: PublicKey, from: PublicKey | null): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(SMART_ACCOUNT),
    keys: [
      { pubkey: to, isSigner: false, isWritable: true },
      ...(from === null ? [] : [{ pubkey: from, isSigner: true, isWritable: true }]),
      { pubkey: new PublicKey(PROGRAMS.system), isSigner: false, isWritable: false },
    ],
    data: Buffer.alloc(0),
  });

/** A guard, as wallets add it, that holds or fails. */
export const guardOf = (account: PublicKey, holds = true): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.lighthouse),
    keys: [{ pubkey: account, isSigner: false, isWritable: false }],
    data: Buffer.from([6, 4, 1, 0, ...(holds ? [] : [0])]),
  });

/** The state of a stand-in wallet, whose vault has a usual address. */
export const newWalletKeys = (): { state: Keypair; vault: PublicKey } => {
  for (;;) {
    const state = Keypair.generate();
    const [vault, bump] = PublicKey.findProgramAddressSync([state.publicKey.toBuffer()], new PublicKey(SWIG));
    if (bump === BUMP_SEED) return { state, vault };
  }
};
export const WALLET_STATE_BYTES = WALLET_BYTES;

/** The instruction by which a stand-in wallet pays. */
export const payByWallet = (
  accounts: {
    source: PublicKey;
    mint: PublicKey;
    destination: PublicKey;
    vault: PublicKey;
    state: PublicKey;
    holder: PublicKey;
  },
  amount: bigint,
): TransactionInstruction => {
  const { source, mint, destination, vault, state, holder } = accounts;
  const data = Buffer.alloc(8);
  data.writeBigUInt64LE(amount);
  const account = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({
    pubkey,
    isWritable,
    isSigner,
  });
  return new TransactionInstruction({
    programId: new PublicKey(SWIG),
    keys: [
      account(source, true),
      account(mint),
      account(destination, true),
      account(vault),
      account(state),
      account(holder, false, true),
      account(new PublicKey(PROGRAMS.token)),
    ],
    data,
  });
};
