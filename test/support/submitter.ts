import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createApproveCheckedInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
} from '@solana/spl-token';
import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { connect } from 'nats';
import pg from 'pg';
import { seedChain } from '../../deploy/local/seed/seed-chain.ts';
import { type EnvironmentKeys, environmentKeys, genesisMint } from '../../deploy/local/stack/keys.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { loginWith } from '../../shared/bus/nkey.ts';
import { publish } from '../../shared/bus/publish.ts';
import { STREAMS } from '../../shared/bus/topology.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import type { CaptureTerms } from '../../shared/contract/quote/capture.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { privateKeyFromSeed, signBytes } from '../../shared/lib/ed25519.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { chainOf } from './chain.ts';
import { createTestDatabase } from './database.ts';
import { eventPayloads } from './event-payloads.ts';
import { startChain } from './local-chain.ts';
import { faults, type ServiceProcess, startService } from './service-process.ts';
import { atSuiteClock } from './suite-clock.ts';
import { waitFor } from './wait.ts';

type ProgressEvent = { name: string; progress: Progress };
/** A quote key that was retired before every quote. */
export const RETIRED_KID = 'test.quote.99';
/** A quote key that was stolen, and is marked so. */
export const STOLEN_KID = 'test.quote.98';

/** Programs beside those of the local chain. */
type Programs = NonNullable<NonNullable<Parameters<typeof startChain>[0]>['programs']>;

export type Quote = { quote_id: string; quote_token: string; payout: PublicKey };
export type Payer = { owner: Keypair; account_id: string; wallet_id: string };

type Again = Partial<{
  settlement_id: string;
  payment_attempt_id: string;
  authority: string;
  generation: number;
  /** Of a quote with a ceiling. */
  capture_amount: string;
  extension_tokens: string[];
}>;

/**
 * The chain-submitter as a separate process, over a local chain, real Postgres and JetStream. The
 * test acts as settlement, wallet and funding. Slots of the chain pass only until the newest
 * transaction is final, so bytes do not expire while a busy machine needs its time.
 */
export const startSubmitterFixture = async ({
  programs,
}: {
  programs?: (keys: EnvironmentKeys) => Programs;
} = {}) => {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'submitter-test-'));
  const keys: EnvironmentKeys = environmentKeys(stateDir, 'test');
  const [chain, testBus, database] = await Promise.all([
    startChain({
      nodeArguments: atSuiteClock,
      genesisMint: genesisMint(keys),
      programs: programs?.(keys) ?? [],
    }),
    createTestBus(),
    createTestDatabase(),
  ]);
  const { genesisHash } = await seedChain(chain.url, keys);
  await chain.call('chain_clock', { onDemand: true });
  const admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=chain_submitter,public',
    max: 3,
  });
  const [settlementBus, fundingBus, walletBus] = await Promise.all([
    testBus.as('settlement'),
    testBus.as('funding'),
    testBus.as('wallet'),
  ]);
  const events = await listen(testBus);
  const outside = chainOf({ rpc_url: chain.url, usdc_mint: keys.mint } as never);
  const authority = keys.delegateAuthorities[0]!;
  const services: ServiceProcess[] = [];

  /**
   * Starts the service. `failpoints` as in test/support/failpoints.ts, `mutation` a rule that is
   * switched off.
   */
  const start = async (
    env: Record<string, string> = {},
    failpoints?: string,
    mutation?: string,
  ): Promise<ServiceProcess> => {
    // A job that an earlier process did not acknowledge would be delivered again, and trigger them.
    if (failpoints !== undefined) await forgetJobs(testBus);
    const service = await startService(
      'chain-submitter',
      { ...environment(), ...faults(failpoints), ...env },
      { testBus, database, ...(mutation !== undefined && { mutation }) },
    );
    services.push(service);
    return service;
  };
  const environment = () => ({
    LOG_LEVEL: 'info',
    SOLANA_RPC_URLS: chain.url,
    GENESIS_HASH: genesisHash,
    USDC_MINT: keys.mint,
    FEE_PAYER_KEYS: `1:${keys.feePayer.secretKey}`,
    DELEGATE_AUTHORITY_KEYS: keys.delegateAuthorities
      .map(({ number, secretKey }) => `${number}:${secretKey}`)
      .join(),
    FEE_WALLET: keys.feeWallet.address,
    FUNDING_AUTHORITY_KEY: keys.mintAuthority.secretKey,
    PUBLIC_KEYS: JSON.stringify([
      { kid: keys.signing.quote.kid, x: keys.signing.quote.publicKey },
      // Keys that have ended, by the same private key.
      { kid: RETIRED_KID, x: keys.signing.quote.publicKey, retired_at: '2020-01-01T00:00:00Z' },
      { kid: STOLEN_KID, x: keys.signing.quote.publicKey, compromised_at: '2020-01-01T00:00:00Z' },
    ]),
    POLL_MS: '20',
  });

  /** Sends a transaction of an outsider, and confirms it by the next slot. */
  const land = async (instructions: TransactionInstruction[], signers: [Keypair, ...Keypair[]]) => {
    const { value } = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const transaction = new Transaction({ feePayer: signers[0].publicKey, recentBlockhash: value.blockhash });
    transaction.add(...instructions);
    // node:crypto signs many times faster than web3.js, which would verify each signature too.
    const message = transaction.serializeMessage();
    for (const { publicKey, secretKey } of signers)
      transaction.addSignature(
        publicKey,
        Buffer.from(signBytes(message, privateKeyFromSeed(secretKey.subarray(0, 32)))),
      );
    const wire = transaction.serialize({ verifySignatures: false }).toString('base64');
    const options = { encoding: 'base64', preflightCommitment: 'processed' };
    const signature = await chain.call<string>('sendTransaction', wire, options);
    await chain.call('chain_advance', 1);
    type Statuses = { value: ({ confirmationStatus: string; err: unknown } | null)[] };
    const { value: statuses } = await chain.call<Statuses>('getSignatureStatuses', [signature]);
    if ((statuses[0]?.confirmationStatus ?? 'processed') === 'processed')
      throw new Error(`the chain did not confirm ${signature}: ${JSON.stringify(statuses[0])}`);
    return signature;
  };

  /** A wallet with a balance and an allowance, created on the chain without the service. */
  const payer = async (balance: bigint, allowance: bigint = balance): Promise<Payer> => {
    const owner = Keypair.generate();
    const account = outside.tokenAccount(owner.publicKey);
    const minter = keypairOf(keys.mintAuthority.secretKey);
    const [mint, decimals] = [outside.mint, 6];
    await land(
      [
        createAssociatedTokenAccountIdempotentInstruction(minter.publicKey, account, owner.publicKey, mint),
        ...(balance > 0n ? [createMintToInstruction(mint, account, minter.publicKey, balance)] : []),
        ...(allowance > 0n
          ? [
              createApproveCheckedInstruction(
                account,
                mint,
                new PublicKey(authority.address),
                owner.publicKey,
                allowance,
                decimals,
              ),
            ]
          : []),
      ],
      [minter, owner].slice(0, allowance > 0n ? 2 : 1) as [Keypair, ...Keypair[]],
    );
    return { owner, account_id: newId('acct'), wallet_id: newId('wal') };
  };

  /** A signed quote. The payout address is a new vendor's by default. */
  const quote = ({
    amount = 1_000_000n,
    fee = 10_000n,
    payout = Keypair.generate().publicKey,
    expiresInMs = 600_000,
    vendor = newId('acct'),
    mint = keys.mint,
    kid = keys.signing.quote.kid,
    capture = null as CaptureTerms | null,
    service = newServiceId(),
    extended = null as string | null,
  } = {}): Quote => {
    const now = Date.now();
    const quote_id = newId('q');
    const { seed } = keys.signing.quote;
    const quote_token = signToken(
      'quote',
      {
        env: 'test',
        quote_id,
        vendor_account_id: vendor,
        service_id: service,
        service_name: 'Weather',
        payout_address: payout.toBase58(),
        mint,
        quote_amount: `${amount}`,
        fee_amount: `${fee}`,
        currency: 'USDC',
        issued_at: isoTime(now),
        expires_at: isoTime(now + expiresInMs),
        redeem_window_seconds: 900,
        scope: null,
        ...(capture !== null && { capture }),
        ...(extended !== null && { extends: extended }),
      },
      { kid, key: privateKeyFromSeed(Buffer.from(seed, 'base64url')) },
    );
    return { quote_id, quote_token, payout };
  };

  let dispatches = 0;
  const send = (bus: Bus, job: string, payload: object) => {
    dispatches += 1;
    return publish(bus, { subject: `job.chain-submitter.${job}`, msgId: `job-${dispatches}`, payload });
  };

  /** A settle job as settlement sends it, by default with new ids. */
  const jobOf = (from: Payer, { quote_token }: Pick<Quote, 'quote_token'>, again: Again = {}) => ({
    account_id: from.account_id,
    payment_attempt_id: again.payment_attempt_id ?? newId('evt'),
    settlement_id: again.settlement_id ?? newId('stl'),
    accepted_at: isoTime(Date.now()),
    generation: again.generation ?? 0,
    quote_token,
    ...(again.capture_amount !== undefined && { capture_amount: again.capture_amount }),
    ...(again.extension_tokens !== undefined && { extension_tokens: again.extension_tokens }),
    payer: {
      wallet_id: from.wallet_id,
      owner: from.owner.publicKey.toBase58(),
      authority: again.authority ?? authority.address,
    },
  });

  return {
    jobOf,
    operatorBus: () => testBus.as('operator'),
    chain,
    outside,
    keys,
    admin,
    database,
    events,
    walletBus,
    settlementBus,
    fundingBus,
    quoteBus: () => testBus.as('quote'),
    identityBus: () => testBus.as('identity'),
    authority: authority.address,
    start,
    land,
    payer,
    quote,
    send,
    /** Sends a settle job, by default with new ids. */
    settle: async (from: Payer, { quote_token }: Quote, again: Again = {}) => {
      const job = jobOf(from, { quote_token }, again);
      await send(settlementBus, 'settle', job);
      return job;
    },
    /** Runs `act`, and waits until the chain has executed one more transaction. */
    executes: async <T>(act: () => Promise<T>): Promise<T> => {
      const count = async () => (await chain.call<{ executed: number }>('chain_stats')).executed;
      const before = await count();
      const result = await act();
      await until(count, (executed) => executed > before);
      return result;
    },
    stop: async () => {
      for (const service of services) await service.stop();
      await events.stop();
      await testBus.stop();
      await chain.stop();
      chain.remove();
      await admin.end();
      await database.drop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
};
export type SubmitterFixture = Awaited<ReturnType<typeof startSubmitterFixture>>;

/** Removes the jobs of earlier tests, whose work is done. */
const forgetJobs = async (testBus: TestBus): Promise<void> => {
  const nc = await connect({ servers: testBus.url, ...loginWith(testBus.seedOf('admin')) });
  const jsm = await nc.jetstreamManager();
  await jsm.streams.purge(STREAMS.jobs, { filter: 'job.chain-submitter.>' });
  await nc.close();
};

/** All events of the service in the order of their arrival. */
const listen = async (testBus: TestBus) => {
  const nc = await connect({
    servers: testBus.url,
    ...loginWith(testBus.seedOf('admin')),
  });
  const heard: ProgressEvent[] = [];
  nc.subscribe('evt.chain-submitter.*', {
    callback: (_error, msg) => {
      const name = msg.subject.split('.')[2]!;
      heard.push(...eventPayloads<Progress>(msg).map((progress) => ({ name, progress })));
    },
  });
  await nc.flush();
  const of = (objectId: string): Progress[] =>
    heard.filter(({ progress }) => progress.object_id === objectId).map(({ progress }) => progress);
  return {
    of,
    names: (objectId: string) =>
      heard.filter(({ progress }) => progress.object_id === objectId).map(({ name }) => name),
    /** The first event of this status. */
    wait: async (objectId: string, status: Progress['status'], count = 1): Promise<Progress> => {
      const matching = (all: Progress[]) => all.filter((event) => event.status === status);
      const all = await until(
        async () => of(objectId),
        (progress) => matching(progress).length >= count,
      );
      return matching(all)[count - 1]!;
    },
    stop: () => nc.close(),
  };
};

export const keypairOf = (secretKey: string): Keypair => Keypair.fromSecretKey(bs58.decode(secretKey));

/** Reads until the value is as expected. Fails after 45 s, because machines may be busy. */
export const until = <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> =>
  waitFor(read, good, 45_000, 10);
