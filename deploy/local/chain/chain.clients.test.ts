import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as kit from '@solana/kit';
import {
  approveChecked,
  createAssociatedTokenAccount,
  createMint,
  createTransferCheckedInstruction,
  getAccount,
  mintTo,
  transferChecked,
} from '@solana/spl-token';
import {
  type Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  type SendTransactionError,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { newPayer, startChain, type TestChain } from '../../../test/support/servers/local-chain.ts';

let chain: TestChain;
let connection: Connection;
beforeAll(async () => {
  // web3.js caches a blockhash for 30 s. With shorter slots a cached blockhash would outlive the
  // chain's 150 blocks on a busy machine.
  chain = await startChain({ slotMs: 100 });
  connection = chain.connection();
});
afterAll(async () => {
  chain.closeSockets();
  expect(await chain.stop()).toBe(0);
  chain.remove();
});

const transfer = (from: Keypair, to: PublicKey, lamports: number) =>
  new Transaction().add(SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports }));

test('web3.js: airdrop, confirmTransaction and sendAndConfirmTransaction work unchanged', async () => {
  const payer = Keypair.generate();
  const to = Keypair.generate().publicKey;
  const airdrop = await connection.requestAirdrop(payer.publicKey, 2 * LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature: airdrop, ...(await connection.getLatestBlockhash()) });
  // Two airdrops of the same amount to the same key are two transactions.
  expect(await connection.requestAirdrop(payer.publicKey, 2 * LAMPORTS_PER_SOL)).not.toBe(airdrop);

  const signature = await sendAndConfirmTransaction(connection, transfer(payer, to, 1_000_000), [payer]);
  expect(await connection.getBalance(to)).toBe(1_000_000);
  const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  expect(found?.meta?.fee).toBe(5_000);
  expect(found?.version).toBe('legacy');

  const { blockhash } = await connection.getLatestBlockhash();
  const instructions = transfer(payer, to, 7).instructions;
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const versioned = new VersionedTransaction(message.compileToV0Message());
  versioned.sign([payer]);
  const second = await connection.sendTransaction(versioned);
  await connection.confirmTransaction(second, 'finalized');
  expect(await connection.getBalance(to, 'finalized')).toBe(1_000_007);
  await expect(connection.getTransaction(second, { commitment: 'confirmed' })).rejects.toThrow(
    'Transaction version (0) is not supported',
  );
});

test('spl-token: mint, approval and transfer by delegate work, and a refused transfer gives error 0x1 or 0x4', async () => {
  const payer = await newPayer(chain);
  const owner = Keypair.generate();
  const delegate = Keypair.generate();
  const merchant = Keypair.generate();
  const mint = await createMint(connection, payer, payer.publicKey, null, 6);
  const from = await createAssociatedTokenAccount(connection, payer, mint, owner.publicKey);
  const to = await createAssociatedTokenAccount(connection, payer, mint, merchant.publicKey);
  await mintTo(connection, payer, mint, from, payer, 5_000_000);
  await approveChecked(connection, payer, mint, from, delegate.publicKey, owner, 2_000_000, 6);
  const pay = (amount: number) =>
    transferChecked(connection, payer, from, mint, to, delegate, amount, 6, [], { commitment: 'confirmed' });

  const signature = await pay(1_500_000);
  expect((await getAccount(connection, to)).amount).toBe(1_500_000n);
  expect((await getAccount(connection, from)).delegatedAmount).toBe(500_000n);
  expect((await connection.getTokenAccountBalance(to)).value.uiAmountString).toBe('1.5');
  expect((await connection.getTokenSupply(mint)).value.amount).toBe('5000000');

  const parsed = await connection.getParsedTransaction(signature, 'confirmed');
  expect(parsed?.transaction.message.instructions[0]).toMatchObject({
    program: 'spl-token',
    parsed: {
      type: 'transferChecked',
      info: { mint: mint.toBase58(), tokenAmount: { amount: '1500000', uiAmountString: '1.5' } },
    },
  });
  const amounts = (list: { uiTokenAmount: { amount: string } }[] | null | undefined) =>
    list?.map((balance) => balance.uiTokenAmount.amount).toSorted();
  expect(amounts(parsed?.meta?.preTokenBalances)).toEqual(['0', '5000000']);
  expect(amounts(parsed?.meta?.postTokenBalances)).toEqual(['1500000', '3500000']);

  const owned = await connection.getParsedTokenAccountsByOwner(owner.publicKey, { mint });
  expect(owned.value.map((one) => one.account.data.parsed.info.tokenAmount.amount)).toEqual(['3500000']);

  // The remaining allowance is 500,000.
  const over = (await pay(600_000).catch((error: unknown) => error)) as SendTransactionError;
  expect(over.message).toContain('custom program error: 0x1');
  expect(over.logs?.join('\n')).toContain('insufficient funds');
  await approveChecked(connection, payer, mint, from, merchant.publicKey, owner, 1, 6);
  await expect(pay(1)).rejects.toThrow('custom program error: 0x4');
});

test('web3.js and kit: a block is read in every form', async () => {
  const payer = await newPayer(chain);
  const to = Keypair.generate().publicKey;
  const signature = await sendAndConfirmTransaction(connection, transfer(payer, to, 1_000_000), [payer]);
  const included = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  const slot = included!.slot;
  const full = await connection.getBlock(slot, { maxSupportedTransactionVersion: 0 });
  const own = full!.transactions.find(({ transaction }) => transaction.signatures[0] === signature);
  expect(own!.meta).toEqual(included!.meta);
  expect(own!.transaction.message.getAccountKeys().get(0)).toEqual(payer.publicKey);
  expect(full!.blockTime).toBe(included!.blockTime);
  const below = await connection.getBlock(full!.parentSlot, { transactionDetails: 'none' });
  expect(below!.blockhash).toBe(full!.previousBlockhash);
  const { signatures } = await connection.getBlockSignatures(slot);
  expect(signatures).toContain(signature);

  const rpc = kit.createSolanaRpc(chain.url);
  const options = { transactionDetails: 'accounts', commitment: 'confirmed', rewards: false } as const;
  const block = await rpc.getBlock(BigInt(slot), { ...options, maxSupportedTransactionVersion: 0 }).send();
  const listed = block!.transactions.find(({ transaction }) => transaction.signatures[0] === signature);
  expect(listed!.transaction.accountKeys.map(({ pubkey, signer }) => [pubkey, signer]).slice(0, 2)).toEqual([
    [payer.publicKey.toBase58(), true],
    [to.toBase58(), false],
  ]);
  expect(listed!.meta).toMatchObject({ err: null, fee: 5000n, preTokenBalances: [], postTokenBalances: [] });
  expect(block).not.toHaveProperty('rewards');
});

test('a transaction is found by its read-only reference key', async () => {
  const payer = await newPayer(chain);
  const reference = Keypair.generate().publicKey;
  const signatures: string[] = [];
  for (const lamports of [1_000_000, 2_000_000, 3_000_000]) {
    const transaction = transfer(payer, Keypair.generate().publicKey, lamports);
    transaction.instructions[0]?.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
    signatures.unshift(await sendAndConfirmTransaction(connection, transaction, [payer]));
  }
  const list = async (options: object) =>
    (await connection.getSignaturesForAddress(reference, options)).map((one) => one.signature);
  expect(await list({})).toEqual(signatures);
  expect(await list({ limit: 1 })).toEqual(signatures.slice(0, 1));
  expect(await list({ before: signatures[0] })).toEqual(signatures.slice(1));
  expect(await list({ until: signatures[2] })).toEqual(signatures.slice(0, 2));
});

test('kit: sendAndConfirmTransactionFactory works, and custom program errors and token accounts are parsed', async () => {
  const rpc = kit.createSolanaRpc(chain.url);
  const rpcSubscriptions = kit.createSolanaRpcSubscriptions(chain.wsUrl);
  const sendAndConfirm = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
  const signer = await kit.generateKeyPairSigner();
  const airdrop = kit.airdropFactory({ rpc, rpcSubscriptions });
  await airdrop({
    commitment: 'confirmed',
    lamports: kit.lamports(1_000_000_000n),
    recipientAddress: signer.address,
  });

  const sign = async (instruction: kit.Instruction) => {
    const { value: lifetime } = await rpc.getLatestBlockhash().send();
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (m) => kit.setTransactionMessageFeePayerSigner(signer, m),
      (m) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => kit.appendTransactionMessageInstruction(instruction, m),
    );
    const signed = await kit.signTransactionMessageWithSigners(message);
    kit.assertIsTransactionWithBlockhashLifetime(signed);
    return signed;
  };
  const to = await kit.generateKeyPairSigner();
  const data = new Uint8Array(12);
  new DataView(data.buffer).setUint32(0, 2, true);
  new DataView(data.buffer).setBigUint64(4, 1_000_000n, true);
  const pay = {
    programAddress: kit.address('11111111111111111111111111111111'),
    accounts: [
      { address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER },
      { address: to.address, role: kit.AccountRole.WRITABLE },
    ],
    data,
  };
  await sendAndConfirm(await sign(pay), { commitment: 'confirmed' });
  expect((await rpc.getBalance(to.address, { commitment: 'confirmed' }).send()).value).toBe(1_000_000n);
  expect((await rpc.getEpochInfo().send()).absoluteSlot).toBeGreaterThan(0n);
  const read = async (commitment: kit.Commitment) =>
    (await rpc.getAccountInfo(to.address, { encoding: 'base64', commitment }).send()).value;
  // The value has too many digits for a double. (kit's type no longer has this deprecated field.)
  expect(await read('confirmed')).toMatchObject({ rentEpoch: 2n ** 64n - 1n });
  expect(await read('finalized')).toBeNull();

  // A key that is not a delegate causes error 0x4 of the token program.
  const web3Payer = await newPayer(chain);
  const mint = await createMint(connection, web3Payer, web3Payer.publicKey, null, 6);
  const source = await createAssociatedTokenAccount(connection, web3Payer, mint, web3Payer.publicKey);
  await mintTo(connection, web3Payer, mint, source, web3Payer, 100);
  const send = async (authority: kit.Address, amount: number) => {
    const target = await createAssociatedTokenAccount(
      connection,
      web3Payer,
      mint,
      Keypair.generate().publicKey,
    );
    const raw = createTransferCheckedInstruction(source, mint, target, new PublicKey(authority), amount, 6);
    const instruction = {
      programAddress: kit.address(raw.programId.toBase58()),
      accounts: raw.keys.map((key) => ({
        address: kit.address(key.pubkey.toBase58()),
        role: key.isWritable ? kit.AccountRole.WRITABLE : kit.AccountRole.READONLY,
        ...(key.isSigner && { role: kit.AccountRole.READONLY_SIGNER, signer }),
      })),
      data: raw.data,
    };
    return await sendAndConfirm(await sign(instruction), { commitment: 'confirmed' }).catch(
      (error: unknown) => error,
    );
  };
  const error = (await send(signer.address, 1)) as Error;
  expect(
    kit.isSolanaError(error, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE),
  ).toBe(true);
  const cause = error.cause;
  expect(kit.isSolanaError(cause, kit.SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM) && cause.context.code).toBe(4);
});

test('web3.js: account and slot subscriptions receive their notifications', async () => {
  const payer = await newPayer(chain);
  const to = Keypair.generate().publicKey;
  const seen: number[] = [];
  const changed = new Promise<void>((resolve) => {
    const id = connection.onAccountChange(to, ({ lamports }) => {
      seen.push(lamports);
      void connection.removeAccountChangeListener(id).then(resolve);
    });
  });
  const slot = new Promise<number>((resolve) => {
    const id = connection.onSlotChange(({ slot: at }) => {
      void connection.removeSlotChangeListener(id).then(() => resolve(at));
    });
  });
  expect(await slot).toBeGreaterThan(450_000_000);
  await sendAndConfirmTransaction(connection, transfer(payer, to, 1_234_567), [payer]);
  await changed;
  expect(seen).toEqual([1_234_567]);
});
