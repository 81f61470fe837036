import { setTimeout as sleep } from 'node:timers/promises';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import {
  type Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { connectTo } from '../processes/chain-connection.ts';
import type { EnvironmentKeys, SolanaKeypair } from './keys.ts';

const usdcDecimals = 6;
const treasuryUsdc = 10_000_000n * 10n ** BigInt(usdcDecimals);
/** The offset of the amount in the data of a token account. */
const amountOffset = 64;
const startingSol = 1000;
const lowSol = 100;
const confirmMilliseconds = 20_000;

/**
 * Prepares the chain for an environment: SOL for the fee payer, the mint authority and the treasury
 * of the sandboxes; the token account of the fee wallet; USDC for the treasury. The mint is in the
 * chain's genesis. Existing accounts stay as they are, so it runs at every start.
 * @returns the genesis hash
 * @throws if the chain has no such mint, or a transaction is not confirmed within 20 s
 */
export async function seedChain(rpcUrl: string, keys: EnvironmentKeys): Promise<{ genesisHash: string }> {
  const connection = connectTo(rpcUrl);
  const [genesisHash] = await Promise.all([
    connection.getGenesisHash(),
    fillUp(connection, keys.feePayer),
    fillUp(connection, keys.mintAuthority),
    fillUp(connection, keys.onrampTreasury),
  ]);

  const authority = keypair(keys.mintAuthority);
  const mint = new PublicKey(keys.mint);
  const feeOwner = new PublicKey(keys.feeWallet.address);
  const feeAccount = getAssociatedTokenAddressSync(mint, feeOwner);
  const treasuryOwner = new PublicKey(keys.onrampTreasury.address);
  const treasury = getAssociatedTokenAddressSync(mint, treasuryOwner);
  const accounts = [mint, feeAccount, treasury];
  const [mintInfo, feeInfo, treasuryInfo] = await connection.getMultipleAccountsInfo(accounts);
  if (!mintInfo)
    throw new Error(
      `the chain at ${rpcUrl} has no mint ${keys.mint}: start it with CHAIN_GENESIS_MINT and an empty folder (\`npm start -- --fresh\`)`,
    );

  const instructions: TransactionInstruction[] = [];
  const create = createAssociatedTokenAccountIdempotentInstruction;
  if ((treasuryInfo?.data.readBigUInt64LE(amountOffset) ?? 0n) < treasuryUsdc / 10n) {
    instructions.push(
      create(authority.publicKey, treasury, treasuryOwner, mint),
      createMintToInstruction(mint, treasury, authority.publicKey, treasuryUsdc),
    );
  }
  if (!feeInfo) {
    instructions.push(create(authority.publicKey, feeAccount, feeOwner, mint));
  }
  if (instructions.length > 0) {
    await sendAndConfirm(connection, instructions, authority);
  }
  return { genesisHash };
}

async function fillUp(connection: Connection, { address }: SolanaKeypair): Promise<void> {
  const owner = new PublicKey(address);
  if ((await connection.getBalance(owner)) >= lowSol * LAMPORTS_PER_SOL) return;
  await confirmed(connection, await connection.requestAirdrop(owner, startingSol * LAMPORTS_PER_SOL));
}

async function sendAndConfirm(
  connection: Connection,
  instructions: TransactionInstruction[],
  signer: Keypair,
): Promise<void> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: signer.publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(signer);
  await confirmed(connection, await connection.sendRawTransaction(transaction.serialize()));
}

/**
 * Polls, because a subscription of web3.js would keep a socket open and needs the port after the
 * RPC's.
 */
async function confirmed(connection: Connection, signature: string): Promise<void> {
  const deadline = Date.now() + confirmMilliseconds;
  while (Date.now() < deadline) {
    const status = (await connection.getSignatureStatuses([signature])).value[0];
    if (status?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(status.err)}`);
    const level = status?.confirmationStatus;
    if (level === 'confirmed' || level === 'finalized') return;
    await sleep(50);
  }
  throw new Error(`transaction ${signature} was not confirmed within ${confirmMilliseconds / 1000} s`);
}

function keypair({ secretKey }: SolanaKeypair): Keypair {
  return Keypair.fromSecretKey(bs58.decode(secretKey));
}
