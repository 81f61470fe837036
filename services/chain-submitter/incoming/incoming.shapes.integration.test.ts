import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AddressLookupTableAccount,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import {
  type IncomingPayment,
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import { smartWalletsOver } from '../../../test/support/fixtures/chain-submitter/smart-wallets.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import {
  guardOf,
  IDLE,
  SMART_ACCOUNT,
  STOLEN,
  standIns,
  steal,
} from '../../../test/support/stand-ins/stand-in-programs.ts';
import { PROGRAMS } from '../ledger/model/programs.ts';

/**
 * Payments as wallets of browsers and smart wallets send them. Programs stand for those of the
 * wallets (test/support/stand-ins/stand-in-programs.ts).
 */
let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture({ programs: ({ feePayer }) => standIns(feePayer.address) });
  await fixture.start();
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { signed, check, submit, countSigned } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { wallet, lookupTable } = smartWalletsOver(() => fixture);
type Wallet = Awaited<ReturnType<typeof wallet>>;
const payee = () => vendor.owner.publicKey;
const minter = () => keypairOf(fixture.keys.mintAuthority.secretKey);
const tokenAccount = (owner: PublicKey) => fixture.outside.tokenAccount(owner);
const asPayer = ({ holder }: Wallet): Payer => ({ owner: holder, account_id: '', wallet_id: '' });
const byWallet = (from: Wallet, amount = PRICE, added: TransactionInstruction[] = []) =>
  signed(asPayer(from), { instead: [from.pay(payee(), amount)], added });
/** Guards as Phantom (one) and Solflare (two) add them. */
const phantom = ({ owner }: Payer) => [guardOf(tokenAccount(owner.publicKey))];
const solflare = ({ owner }: Payer) => [guardOf(owner.publicKey), guardOf(tokenAccount(owner.publicKey))];
const failedOnChain = async () => (await fixture.chain.call<{ failed: number }>('chain_stats')).failed;

/** How a new buyer signs a shape. All buyers exist before one signs, so that none expires. */
const SHAPES: [string, () => Promise<() => Promise<IncomingPayment>>][] = [
  [
    'a guard of Phantom',
    async () => {
      const buyer = await fixture.payer(PRICE);
      return () => signed(buyer, { added: phantom(buyer) });
    },
  ],
  [
    'two guards of Solflare',
    async () => {
      const buyer = await fixture.payer(PRICE);
      return () => signed(buyer, { added: solflare(buyer) });
    },
  ],
  [
    'a lookup table',
    async () => {
      const [buyer, { account }] = [await fixture.payer(PRICE), await sharedTable()];
      return () => signed(buyer, { tables: [account] });
    },
  ],
  [
    'a smart wallet',
    async () => {
      const from = await wallet(PRICE);
      return () => byWallet(from);
    },
  ],
];
let shared: ReturnType<typeof lookupTable> | undefined;
const sharedTable = () => {
  shared ??= lookupTable([tokenAccount(payee()), fixture.outside.mint]);
  return shared;
};

describe('accepted', () => {
  test.each(SHAPES)('%s: 64 at once are confirmed, each with its transfer', async (_name, make) => {
    const before = [await fixture.outside.balance(payee()), await failedOnChain()] as const;
    const buyers: Awaited<ReturnType<typeof make>>[] = [];
    for (let count = 0; count < 64; count += 1) buyers.push(await make());
    const payments = await Promise.all(
      buyers.map(async (sign) => ({ payment: await sign(), id: newId('stl') })),
    );
    const answers = await Promise.all(payments.map(({ payment, id }) => submit(payment, id)));
    expect(new Set(answers.map(reasonOf))).toEqual(new Set(['submitted']));
    await Promise.all(payments.map(({ id }) => fixture.events.wait(id, 'finalized')));
    expect([await fixture.outside.balance(payee()), await failedOnChain()]).toEqual([
      before[0] + 64n * PRICE,
      before[1],
    ]);
  });

  test('what a smart wallet pays is checked again after it was paid, without a simulation', async () => {
    const [payment, id] = [await byWallet(await wallet(PRICE)), newId('stl')];
    const first = await check(payment);
    expect(reasonOf(await submit(payment, id))).toBe('submitted');
    await fixture.events.wait(id, 'finalized');
    expect(await check(payment)).toEqual(first);
    expect(await countSigned(id)).toBe(1);
  });
});

const named = (program: string, ...accounts: PublicKey[]) =>
  new TransactionInstruction({
    programId: new PublicKey(program),
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: program === SMART_ACCOUNT })),
    data: Buffer.alloc(0),
  });

const feePayer = () => new PublicKey(fixture.keys.feePayer.address);
/** An account that receives what the thief takes. */
const thiefsAccount = async () => {
  const [{ publicKey }, lamports] = [Keypair.generate(), 1_000_000];
  const fromPubkey = minter().publicKey;
  await fixture.include([SystemProgram.transfer({ fromPubkey, toPubkey: publicKey, lamports })], [minter()]);
  return publicKey;
};
type Tables = { inTable?: PublicKey; tables?: AddressLookupTableAccount[] };
/** A payment beside which a program steals. `inTable`: an account that it gets from a table. */
const withThief = async (victim: PublicKey | null, { inTable, tables = [] }: Tables = {}) => {
  const [from, theft] = [await wallet(PRICE), steal(await thiefsAccount(), victim)];
  if (inTable !== undefined) theft.keys.push({ pubkey: inTable, isSigner: false, isWritable: true });
  return signed(asPayer(from), { instead: [from.pay(payee(), PRICE), theft], tables });
};

test('the thief of the next tests takes lamports of our fee payer, if it gets it', async () => {
  const to = await thiefsAccount();
  type Balance = { value: number };
  const balance = async () =>
    (await fixture.chain.call<Balance>('getBalance', to.toBase58(), { commitment: 'confirmed' })).value;
  const before = await balance();
  await fixture.include([steal(to, feePayer())], [keypairOf(fixture.keys.feePayer.secretKey)]);
  expect(await balance()).toBe(before + STOLEN);
  // Without it, the chain refuses the call for exactly that reason.
  const { message } = (await check(await withThief(null))) as { message: string };
  expect(message).toContain('MissingAccount');
});

describe('refused', () => {
  test.each<[string, () => Promise<IncomingPayment>, string]>([
    [
      'a guard that does not hold',
      async () => {
        const buyer = await fixture.payer(PRICE);
        return signed(buyer, { added: [guardOf(tokenAccount(buyer.owner.publicKey), false)] });
      },
      'simulation_failed',
    ],
    [
      'a guard that names an account of somebody else',
      async () => signed(await fixture.payer(PRICE), { added: [guardOf(tokenAccount(payee()))] }),
      'unknown_instruction',
    ],
    [
      'a lookup table that is not final',
      async () => {
        const { account } = await lookupTable([tokenAccount(payee())], { slots: 2 });
        return signed(await fixture.payer(PRICE), { tables: [account] });
      },
      'transaction_could_not_be_decoded',
    ],
    [
      'a lookup table that is deactivated',
      async () => {
        const { account, deactivate } = await lookupTable([tokenAccount(payee())]);
        await deactivate();
        await fixture.chain.call('chain_advance', 40);
        return signed(await fixture.payer(PRICE), { tables: [account] });
      },
      'transaction_could_not_be_decoded',
    ],
    [
      'an account that is no lookup table',
      async () => {
        const { account } = await lookupTable([tokenAccount(payee())]);
        const { key } = { key: fixture.outside.mint };
        return signed(await fixture.payer(PRICE), { tables: [Object.assign(account, { key })] });
      },
      'transaction_could_not_be_decoded',
    ],
    [
      'a smart wallet that pays one unit less',
      async () => byWallet(await wallet(PRICE), PRICE - 1n),
      'amount_mismatch',
    ],
    [
      'a smart wallet that pays another payee',
      async () => {
        const from = await wallet(PRICE);
        const other = await fixture.payer(1n);
        return signed(asPayer(from), { instead: [from.pay(other.owner.publicKey, PRICE)] });
      },
      'amount_mismatch',
    ],
    [
      'a smart wallet that pays twice',
      async () => {
        const from = await wallet(2n * PRICE);
        return signed(asPayer(from), { instead: [from.pay(payee(), PRICE), from.pay(payee(), PRICE)] });
      },
      'amount_mismatch',
    ],
    [
      'a smart wallet without the balance',
      async () => byWallet(await wallet(PRICE - 1n)),
      'insufficient_funds',
    ],
    [
      'a program that takes our lamports by a signature that its instruction does not have',
      () => withThief(null),
      'simulation_failed',
    ],
    [
      'a program that gets our fee payer',
      () => withThief(feePayer()),
      'transaction_fee_payer_transferring_funds',
    ],
    [
      'a program that gets our fee payer from a lookup table',
      async () => {
        const [{ account }, inTable] = [await lookupTable([feePayer()]), Keypair.generate().publicKey];
        account.state.addresses = [inTable];
        return withThief(null, { inTable, tables: [account] });
      },
      'transaction_could_not_be_decoded',
    ],
    [
      'a program that gets an account of the platform from a lookup table',
      async () => {
        const from = await wallet(PRICE);
        const feeAccount = tokenAccount(new PublicKey(fixture.keys.feeWallet.address));
        const { account } = await lookupTable([feeAccount]);
        return signed(asPayer(from), {
          instead: [from.pay(payee(), PRICE), named(SMART_ACCOUNT, feeAccount)],
          tables: [account],
        });
      },
      'transaction_fee_payer_transferring_funds',
    ],
    [
      'a program that gets Lighthouse, so that it can call guards itself',
      async () => {
        const from = await wallet(PRICE);
        const lighthouse = new PublicKey(PROGRAMS.lighthouse);
        return signed(asPayer(from), { instead: [from.pay(payee(), PRICE), named(IDLE, lighthouse)] });
      },
      'unknown_instruction',
    ],
    [
      'a program that gets Lighthouse from a lookup table',
      async () => {
        const from = await wallet(PRICE);
        const lighthouse = new PublicKey(PROGRAMS.lighthouse);
        const { account } = await lookupTable([lighthouse]);
        return signed(asPayer(from), {
          instead: [from.pay(payee(), PRICE), named(IDLE, lighthouse)],
          tables: [account],
        });
      },
      'unknown_instruction',
    ],
    [
      'an address without an account, as the reference of a quote is',
      async () => {
        const from = await wallet(PRICE);
        const reference = Keypair.generate().publicKey;
        return signed(asPayer(from), { instead: [from.pay(payee(), PRICE), named(IDLE, reference)] });
      },
      'unknown_instruction',
    ],
    [
      'an address that anybody has sent lamports to',
      async () => {
        const [from, reference] = [await wallet(PRICE), Keypair.generate().publicKey];
        const { publicKey } = minter();
        const lamports = 1_000_000;
        await fixture.include(
          [SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: reference, lamports })],
          [minter()],
        );
        return signed(asPayer(from), { instead: [from.pay(payee(), PRICE), named(IDLE, reference)] });
      },
      'unknown_instruction',
    ],
  ])('%s', async (_name, make, reason) => {
    const [payment, id] = [await make(), newId('stl')];
    expect([reasonOf(await check(payment)), reasonOf(await submit(payment, id))]).toEqual([reason, reason]);
    expect(await countSigned(id)).toBe(0);
  });

  test('a smart wallet whose balance moves between the check and the signature', async () => {
    const from = await wallet(PRICE);
    const [payment, id] = [await byWallet(from), newId('stl')];
    expect(reasonOf(await check(payment))).toBe('accepted');
    const other = await fixture.payer(1n);
    await fixture.include([from.pay(other.owner.publicKey, PRICE)], [minter(), from.holder]);
    expect(reasonOf(await submit(payment, id))).toBe('insufficient_funds');
    expect(await countSigned(id)).toBe(0);
  });
});

test('a lookup table that changes between the check and the signature has no other accounts', async () => {
  const other = await fixture.payer(1n);
  const { account, extend, deactivate, close } = await lookupTable([
    tokenAccount(payee()),
    fixture.outside.mint,
  ]);
  const before = await fixture.outside.balance(payee());
  const [payment, id] = [await signed(await fixture.payer(PRICE), { tables: [account] }), newId('stl')];
  expect(reasonOf(await check(payment))).toBe('accepted');
  await extend([tokenAccount(other.owner.publicKey)]);
  await deactivate();
  // It takes 512 slots until a deactivated table can be closed, and these bytes expire before.
  await expect(close()).rejects.toThrow();
  expect(reasonOf(await submit(payment, id))).toBe('submitted');
  await fixture.events.wait(id, 'finalized');
  expect(await fixture.outside.balance(payee())).toBe(before + PRICE);
});
