import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { z } from 'zod';
import { eraseAccounts } from '../../services/identity/closing/erase-accounts.ts';
import { config as schema } from '../../services/identity/config.ts';
import type { Peers } from '../../services/identity/peers.ts';
import { createService } from '../../services/identity/service.ts';
import { endServices } from '../../services/identity/services/end-services.ts';
import { findApproval } from '../../services/settlement/approvals/find-approval.ts';
import { recordApproval } from '../../services/settlement/approvals/record-approval.ts';
import { listDelegateSpending } from '../../services/settlement/delegates/list-delegate-spending.ts';
import { upsertDelegate } from '../../services/settlement/delegates/upsert-delegate.ts';
import { closeBase, openBase, recordsOf, stopService } from '../../shared/boot.ts';
import { call, forward } from '../../shared/bus/call.ts';
import { encode } from '../../shared/bus/envelope.ts';
import { eventDurable } from '../../shared/bus/topology.ts';
import type { OpenWork } from '../../shared/contract/account-activity.ts';
import type { Client } from '../../shared/contract/client.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { identity, type settlement } from '../../shared/contract/index.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { connectPool, type Pool } from '../../shared/db/pool.ts';
import { subscribeLive } from '../../shared/events/consume.ts';
import type { OutboxRow } from '../../shared/events/outbox.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../shared/lib/ed25519.ts';
import { newId } from '../../shared/lib/id.ts';
import { PublicKeyList } from '../../shared/lib/keys.ts';
import { createTestBus, type TestBus } from './bus.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database-handle.ts';
import { serviceSettings } from './service-settings.ts';
import { type ReceivedMail, startSmtpSink } from './smtp.ts';
import { waitUntil } from './wait.ts';

/**
 * The identity service over a real bus, database and mail server. Tests call it as the gateway
 * does.
 */
type Operations = typeof identity.operations;
type Output<N extends keyof Operations> = z.infer<Operations[N]['output']>;
/** Requested without a cookie, so the refresh token is in the body. */
export type Session = Output<'refresh'> & { refresh_token: string };
/** Requested without an Idempotency-Key, so a new secret is in the answer. */
type First<O> = [Extract<O, { api_key: string }>] extends [never] ? O : Extract<O, { api_key: string }>;
type Answer<N extends keyof Operations> = Output<N> extends Output<'refresh'> ? Session : First<Output<N>>;

export const PAYOUT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
/** An address that chain-submitter refuses. Its tests show the reasons. */
export const REFUSED_PAYOUT = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

/** A wallet of another account. */
export const FOREIGN_WALLET = newId('wal');

const SEED = Buffer.alloc(32, 7);
const KID = 'test.session.1';
const keys = PublicKeyList.parse(
  JSON.stringify([
    { kid: KID, x: Buffer.from(rawPublicKey(privateKeyFromSeed(SEED))).toString('base64url') },
  ]),
);
const CONSOLE = 'https://console.quittance.example';
const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64url');

const configOf = (testBus: TestBus, database: TestDatabase, smtpUrl: string) =>
  schema.parse({
    ...serviceSettings('identity', { testBus, database }),
    LOG_LEVEL: 'fatal',
    CELL: '7',
    SIGNING_KEYS: `${KID}:${SEED.toString('base64url')}`,
    IDENTITY_SECRET: secret(9),
    CURSOR_KEY: secret(8),
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Quittance <no-reply@quittance.example>',
    SIGN_IN_URL: `${CONSOLE}/sign-in`,
    REVEAL_URL: `${CONSOLE}/reveal`,
    CONSOLE_URL: CONSOLE,
    PASSKEY_RP_ID: 'localhost',
    PASSKEY_ORIGINS: 'http://localhost:4000',
  });

/**
 * Mails are sent soon, and nothing else is done by the time: a test calls what it needs. A changed
 * payout address waits as in the live environment.
 */
const CHANGED = {
  batchWindowMs: 20,
  sendMailsEveryMs: 200,
  checkEveryMs: 3_600_000,
  eraseEveryMs: 3_600_000,
  payoutDelayHours: 24,
};

/** What the other services answer. A test changes it. */
const peersOf = (settlementPool: Pool) => {
  const wallets = new Set<string>();
  const activity = {
    open: false,
    endsAt: null as number | null,
    onQuery: async (_serviceId: string): Promise<void> => {},
  };
  const openWork: OpenWork[] = [];
  const defaults = new Map<string, string | null>();
  const listSpending = listDelegateSpending({ pool: settlementPool });
  const approvalOf = findApproval({ pool: settlementPool });
  const peers: Peers = {
    // Not over the bus, where a fake of another service would answer for every test on this server.
    checkPayoutAddress: async (address) => {
      if (address === REFUSED_PAYOUT) throw new ServiceError('validation_error', 'a program');
    },
    // Every wallet belongs to the account, except this one.
    findDefaultWallet: async (accountId) => defaults.get(accountId) ?? null,
    setDefaultWallet: async (accountId, walletId) => {
      if (walletId === FOREIGN_WALLET) return false;
      defaults.set(accountId, walletId);
      return true;
    },
    hasWallet: async (accountId, walletId) => wallets.has(`${accountId}/${walletId}`),
    // The real handlers of settlement, on the same database.
    upsertDelegate: upsertDelegate({ pool: settlementPool, closeAuthorizations: async () => {} }),
    listDelegateSpending: (account_id, delegate_ids) => listSpending({ account_id, delegate_ids }),
    findApproval: (account_id, approval_id) => approvalOf({ account_id, approval_id }),
    // The events of settlement are published by the test.
    recordApproval: recordApproval({ pool: settlementPool, relay: { dispatch: () => {} } }),
    listOpenWork: async () => openWork,
    getActivity: async (serviceId) => {
      await activity.onQuery(serviceId);
      return activity;
    },
  };
  return { peers, wallets, activity, openWork };
};

/** The token of the sign-in link in a mail's text. */
export const tokenIn = (text: string): string => /#token=(ml_test_[A-Za-z0-9_-]{43})\s/.exec(text)![1]!;

/** The caller that the gateway would make of a session's access token. */
export const callerOf = ({ access_token, account }: Session): Principal & { kind: 'jwt' } => {
  const [, payload] = access_token.split('.');
  const { sid, amr, auth_time } = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as {
    sid: string;
    amr: string[];
    auth_time: number;
  };
  const device = amr.includes('device') ? { device: true as const } : {};
  return { kind: 'jwt', account_id: account.account_id, session_id: sid, auth_time, ...device };
};

/** The error code of a refused call, or `ok`. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: ServiceError) => error.code,
  );

/** Starts all of it on POSTGRES_URL and a separate bus. `stop` stops and deletes all of it. */
export const startIdentity = async () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  // On a shared bus two suites would receive each other's calls through the queue groups.
  const testBus = await createTestBus();
  cleanups.push(testBus.stop);

  const database = await createTestDatabase();
  cleanups.push(database.drop);
  const smtp = await startSmtpSink();
  cleanups.push(smtp.close);
  const admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  cleanups.push(() => admin.end());

  const settlementPool = await connectPool(database.url('settlement'), { max: 5 });
  cleanups.push(() => settlementPool.end());
  const { peers, wallets, activity, openWork } = peersOf(settlementPool);
  const config = configOf(testBus, database, smtp.url);
  const identitySecrets = [...config.IDENTITY_SECRET];
  const cursorKeys = [...config.CURSOR_KEY];
  const opened = await openBase('identity', config);
  cleanups.push(() => closeBase(opened));
  const published: OutboxRow[] = [];
  // Events are recorded for the test and published on the bus.
  const relay = {
    dispatch: (rows: readonly OutboxRow[]) => {
      published.push(...rows);
      opened.relay.dispatch(rows);
    },
  };
  const base = { ...opened, relay };
  const settings = { ...config, IDENTITY_SECRET: identitySecrets, CURSOR_KEY: cursorKeys };
  const service = createService(base, settings, peers, CHANGED);
  cleanups.push(() => stopService(service));
  const deps = { ...recordsOf(base), ...peers, sendMailsNow: () => {} };
  const { clock } = base;
  const settler = await testBus.as('settlement');
  const watcher = await testBus.as('admin');
  /** The last sequence of each event, because a consumer acknowledges only its own. */
  const lastPublished = new Map<string, number>();
  const [gateway, quote] = await Promise.all([testBus.as('gateway'), testBus.as('quote')]);
  const revokedSessions = new Set<string>();
  subscribeLive(gateway, identity, {
    sessionRevoked: ({ account_id, session_id }) =>
      revokedSessions.add(JSON.stringify({ account_id, session_id })),
  });

  const ask = <N extends string & keyof Operations>(
    name: N,
    input: object,
    caller: Principal = { kind: 'none' },
    call: { idempotencyKey?: string; onReplay?: () => void; client?: Client } = {},
  ) =>
    forward(gateway, identity, name, input, caller, {
      ...{ timeoutMs: 90_000, headers: {} },
      ...call,
    }) as Promise<Answer<N>>;
  /** Requests a link and reads its token from the mail. */
  const linkFor = async (address: string): Promise<string> => {
    // Other mails to this address may arrive in between, such as the notice of a new passkey.
    const links = () => smtp.mailsTo(address).filter(({ text }) => text.includes('#token=ml_test_'));
    const before = links().length;
    await ask('requestMagicLink', { email: address });
    await waitUntil(() => links().length > before, { withinMs: 30_000 });
    return tokenIn(links().at(-1)!.text);
  };
  let addresses = 0;
  const newAddress = () => {
    addresses += 1;
    return `person-${addresses}@example.com`;
  };
  let shiftedSeconds = 0;
  const findKeyRecord = async (key_hash: string) =>
    (await call(gateway, identity, 'findKeys', { key_hashes: [key_hash] }))[0]!;
  const findSession = async ({ session_id, account_id }: { session_id: string; account_id: string }) =>
    (await call(gateway, identity, 'findSessions', { sessions: [{ session_id, account_id }] }))[0]!;

  return {
    ask,
    linkFor,
    newAddress,
    signIn: async (address = newAddress()): Promise<Session> =>
      ask('verifyMagicLink', { token: await linkFor(address) }),
    isOpen: async (session: Session): Promise<boolean> => {
      const { session_id, account_id } = callerOf(session);
      return (await findSession({ session_id, account_id })).open;
    },
    isKnownBrowser: (browser: { email: string; browser_nonce: string }) =>
      call(gateway, identity, 'isKnownBrowser', browser),
    /** What a change of IDENTITY_SECRET and CURSOR_KEY, and a restart, make of the lists. */
    setSecrets: (secrets: { identity: readonly Buffer[]; cursor: readonly Buffer[] }): void => {
      identitySecrets.splice(0, Number.POSITIVE_INFINITY, ...secrets.identity);
      cursorKeys.splice(0, Number.POSITIVE_INFINITY, ...secrets.cursor);
    },
    /** The status of a session and its account, as a gateway reads it. */
    findSession,
    databaseUrl: database.url,
    /** The database as settlement uses it. */
    settlementPool,
    /** Waits until a gateway received the event that this session is revoked. */
    sessionRevoked: ({ account_id, session_id }: { account_id: string; session_id: string }) =>
      waitUntil(() => revokedSessions.has(JSON.stringify({ account_id, session_id }))),
    /** Waits for mails to this address that match, and returns the last one. */
    mailTo: async (
      address: string,
      matches: (mail: ReceivedMail) => boolean,
      atLeast = 1,
    ): Promise<ReceivedMail> => {
      const found = () => smtp.mailsTo(address).filter(matches);
      await waitUntil(() => found().length >= atLeast, { withinMs: 30_000 });
      return found().at(-1)!;
    },
    findKey: async (key_hash: string) => {
      const found = await findKeyRecord(key_hash);
      return found !== null && 'principal' in found ? found.principal : null;
    },
    /** What the gateway gets about a key. */
    findKeyRecord,
    /** Why a key is refused; null for a valid key and for an unknown one. */
    findKeyRefusal: async (key_hash: string) => {
      const found = await findKeyRecord(key_hash);
      return found !== null && 'refused' in found ? found : null;
    },
    /** The bus as the operators' tools use it. */
    operator: await testBus.as('operator'),
    /** Another operator. */
    joe: await testBus.asOperator('joe'),
    findService: (service_id: string) => call(quote, identity, 'findService', { service_id }),
    /** Hashes of the revoked keys that were published to the gateways. */
    revokedHashes: () =>
      published
        .filter(({ subject }) => subject === 'evt.identity.keysRevoked')
        .flatMap(({ payload }) => (payload as { key_hashes: string[] }).key_hashes),
    /**
     * Publishes an event of settlement in a new message each time. The payload may violate the
     * contract.
     */
    publish: async (payload: object, name: keyof typeof settlement.events = 'issued'): Promise<void> => {
      const { seq } = await settler.js.publish(`evt.settlement.${name}`, encode(payload));
      lastPublished.set(name, Math.max(lastPublished.get(name) ?? 0, seq));
    },
    /** Waits until every published event is handled and every mail is sent that has not expired. */
    allHandledAndMailed: async (
      event: 'issued' | 'declined' | 'approvalRequested' = 'issued',
    ): Promise<void> => {
      const jsm = await watcher.nc.jetstreamManager();
      const { stream, durable } = eventDurable('identity', 'settlement', event);
      for (;;) {
        const { ack_floor } = await jsm.consumers.info(stream, durable);
        const { rows } = await admin.query('select from identity.mails where expires_at > app_now() limit 1');
        if (ack_floor.stream_seq >= (lastPublished.get(event) ?? 0) && rows.length === 0) return;
        await sleep(20);
      }
    },
    /** Gives an account a wallet. */
    newWallet: (accountId: string): string => {
      const walletId = newId('wal');
      wallets.add(`${accountId}/${walletId}`);
      return walletId;
    },
    /** The activity that quote and settlement report for every service. A test changes it. */
    activity,
    /** What the other services report as open of every account. A test changes it. */
    openWork,
    endServices: endServices(deps),
    eraseAccounts: eraseAccounts(deps),
    /** The subjects and payloads of the published events. */
    published,
    deps,
    passSeconds: (seconds: number) => {
      shiftedSeconds += seconds;
      return database.shiftClock(`${shiftedSeconds} seconds`);
    },
    /**
     * Waits until the service, which reads the database's clock once a second, has read the shift.
     */
    clockUpdated: () => waitUntil(() => Math.abs(clock.now() - Date.now() - shiftedSeconds * 1000) <= 500),
    /** Epoch milliseconds of the shifted clock. */
    now: () => Date.now() + shiftedSeconds * 1000,
    count: async (table: string, where = 'true'): Promise<number> => {
      const { rows } = await admin.query<{ count: string }>(
        `select count(*) from identity.${table} where ${where}`,
      );
      return Number(rows[0]!.count);
    },
    admin,
    smtp,
    keys,
    stop: async () => {
      for (const cleanup of cleanups.reverse()) await cleanup();
    },
  };
};
