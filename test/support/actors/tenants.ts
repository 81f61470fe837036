import { Keypair } from '@solana/web3.js';
import { quoteOf, settleWith } from '../../../deploy/local/seed/actors.ts';
import { type Api, must } from '../../../deploy/local/seed/api.ts';
import { type SignIn, signIn } from '../../../deploy/local/seed/sign-in.ts';
import { allowSpending, fund, linkWallet, walletProof } from '../../../deploy/local/seed/wallet.ts';
import { connectDatabases } from '../../../deploy/local/servers/every-database.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import type { Databases } from '../../../shared/db/databases.ts';
import { waitFor, waitUntil } from '../base/wait.ts';
import { createAuthenticator, type Options } from './authenticator.ts';

/**
 * One account with one object of each kind that an account can have, and a credential of each kind.
 */
export type Tenant = {
  environment: 'test' | 'live';
  session: SignIn;
  accountId: string;
  credentials: { jwt: string; service_key: string; delegate_key: string };
  /** Path parameters that name its objects. */
  objects: Record<
    | 'service_id'
    | 'quote_id'
    | 'payment_link_id'
    | 'settlement_id'
    | 'wallet_id'
    | 'delegate_id'
    | 'passkey_id'
    | 'session_id'
    | 'deposit_id'
    | 'withdrawal_id'
    | 'refund_id'
    | 'endpoint_id'
    | 'event_id'
    | 'approval_id',
    string
  >;
  /** Bodies that belong to it. */
  quoteToken: string;
  settlementToken: string;
  attemptId: string;
  walletProof: Awaited<ReturnType<typeof walletProof>>;
};

const NONE = 'q_01jd3h9zv4f2k8m6q0w5x7y9ab';

/** Creates a tenant. There are no test funds in live, so a tenant there has no payment. */
export const createTenant = async (
  api: Api,
  stack: Pick<Stack, 'mail_url' | 'gateway_url'>,
  environment: 'test' | 'live',
  { pays = environment === 'test' }: { pays?: boolean } = {},
): Promise<Tenant> => {
  const email = `tenant-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const session = await signIn(api, stack, email, environment);
  const token = session.access_token;
  const accountId = session.account.account_id;
  const post = <T>(path: `/${string}`, body: object) => must(api<T>(`POST ${path}`, { token, body }), path);
  const [payout, wallet] = [Keypair.generate(), Keypair.generate()];
  const service = await post<{ service_id: string; api_key: string }>('/v1/services', {
    name: 'Tenant',
    price: '1000000',
    payout_address: payout.publicKey.toBase58(),
  });
  const { wallet_id } = await linkWallet(api, token, accountId, wallet);
  const delegate = await post<{ delegate_id: string; api_key: string }>('/v1/delegates', {
    name: 'Robot',
    wallet_id,
    limits: { daily: '5000000', total: '5000000' },
    approval_above: '2000000',
  });
  // No event of a tenant is delivered to this endpoint, so its log stays empty.
  const endpoint = await post<{ endpoint_id: string }>('/v1/webhook-endpoints', {
    url: 'http://127.0.0.1:9/hook',
    event_types: ['quote.expired'],
  });
  const options = await post<Options>('/v1/auth/passkey/register/options', {});
  const origin = `http://localhost:${new URL(stack.gateway_url).port}`;
  const passkey = await post<{ passkey_id: string }>('/v1/auth/passkey/register/verify', {
    response: createAuthenticator().create(options, { origin }),
  });
  const sessions = await must(
    api<{ data: { session_id: string }[] }>('GET /v1/accounts/me/sessions', { token }),
    'sessions',
  );
  const deposit = await post<{ deposit_id: string }>('/v1/deposits/fiat', {
    wallet_id,
    provider: 'moonpay',
    fiat_currency: 'USD',
    fiat_amount: '50.00',
  });
  const vendor = { apiKey: service.api_key, serviceId: service.service_id };
  const quote = await quoteOf(api, vendor);
  const link = await post<{ payment_link_id: string }>('/v1/payment-links', {
    service_id: service.service_id,
    title: 'Tour',
  });
  // Its page makes no quote, because anyone may open it.
  await post(`/v1/payment-links/${link.payment_link_id}/deactivate`, {});
  const attemptId = crypto.randomUUID();
  let paid = { settlement_id: NONE.replace('q_', 'stl_'), settlement_token: 'e30.e30' };
  let withdrawal = { withdrawal_id: NONE.replace('q_', 'wd_') };
  let refund = { refund_id: NONE.replace('q_', 'ref_') };
  let approval = { approval_id: NONE.replace('q_', 'apr_') };
  if (pays) {
    await fund(api, token, wallet_id, 10_000_000n);
    await allowSpending(api, token, wallet_id, wallet, 10_000_000n);
    paid = await must(
      settleWith(api, delegate.api_key, await quoteOf(api, vendor), attemptId),
      'settle by delegate',
    );
    const large = await quoteOf(api, vendor, { quote_amount: '3000000' });
    const asked = await settleWith(api, delegate.api_key, large);
    approval = asked.body.error as unknown as typeof approval;
    withdrawal = await post('/v1/withdrawals', {
      wallet_id,
      amount: '1000',
      destination_address: payout.publicKey.toBase58(),
    });
    refund = await must(
      api('POST /v1/refunds', {
        token: vendor.apiKey,
        body: { settlement_id: paid.settlement_id, amount: '1000' },
      }),
      'refund',
    );
  }
  return {
    environment,
    session,
    accountId,
    credentials: { jwt: token, service_key: service.api_key, delegate_key: delegate.api_key },
    objects: {
      service_id: service.service_id,
      quote_id: quote.quote_id,
      payment_link_id: link.payment_link_id,
      settlement_id: paid.settlement_id,
      wallet_id,
      delegate_id: delegate.delegate_id,
      passkey_id: passkey.passkey_id,
      session_id: sessions.data[0]!.session_id,
      deposit_id: deposit.deposit_id,
      withdrawal_id: withdrawal.withdrawal_id,
      refund_id: refund.refund_id,
      endpoint_id: endpoint.endpoint_id,
      event_id: await firstEvent(api, token),
      approval_id: approval.approval_id,
    },
    quoteToken: quote.quote_token,
    settlementToken: paid.settlement_token,
    attemptId,
    walletProof: await walletProof(wallet, accountId),
  };
};

/** The account has created a delegate, which is an event. */
const firstEvent = async (api: Api, token: string): Promise<string> => {
  const read = async () => {
    const type = 'delegate.created';
    const { body } = await api<{ data: { event_id: string }[] }>(`GET /v1/events?type=${type}`, { token });
    return body.data;
  };
  const [event] = await waitFor(read, (found) => found.length > 0);
  return event!.event_id;
};

const NOT_DECLINED = `to_jsonb(t) ->> 'type' is distinct from 'settlement.declined'`;

/**
 * Everything that the services' schemas store about an account, one text per table, to compare
 * before and after. The time of a job's next poll of a row is left out. So are declines that the
 * account has as a vendor: anybody may cause one by trying to pay its quote.
 */
export const createSnapshot = async (databases: Databases) => {
  const pool = connectDatabases(databases, { max: 2 });
  const tables = await pool.everywhere<{ name: string; has: string }>(`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name,
      string_agg(column_name, ' ') as has
    from information_schema.columns
    where table_schema not in ('pg_catalog', 'information_schema') and column_name in ('account_id', 'vendor_account_id')
    group by table_schema, table_name order by 1`);
  return {
    tables: tables.map(({ name }) => name),
    of: async (accountId: string): Promise<Record<string, string>> => {
      const found: Record<string, string> = {};
      for (const { name, has } of tables) {
        const isOwner = (column: string) => `${name}.${column}` !== 'settlement.declines.vendor_account_id';
        const owned = has
          .split(' ')
          .filter(isOwner)
          .map((column) => `${column} = $1`);
        const { rows } = await pool.query<{ digest: string | null }>(
          `select md5(string_agg(row, ',' order by row)) as digest
           from (select (to_jsonb(t) - '{poll_at,poll_count}'::text[])::text as row from ${name} t where (${owned.join(' or ')}) and ${NOT_DECLINED}) rows`,
          [accountId],
        );
        found[name] = rows[0]!.digest ?? 'nothing';
      }
      return found;
    },
    /**
     * Waits until the account's payments and test funds are final, and their costs are read. From
     * then on no background job changes the account.
     */
    untilQuiet: async (accountId: string): Promise<void> => {
      const isQuiet = async () => {
        const [paid, funded, unread, events] = await Promise.all([
          pool.query<{ id: string; is_final: boolean }>(
            `select settlement_id as id, chain_status = 'finalized' as is_final
             from settlement.settlements where account_id = $1`,
            [accountId],
          ),
          pool.query("select from funding.dev_funds where account_id = $1 and status <> 'finalized'", [
            accountId,
          ]),
          pool.query('select from chain_submitter.unread_costs where account_id = $1', [accountId]),
          pool.query<{ id: string }>(
            `select object_id as id from webhook.events
             where $1 in (account_id, other_account_id) and type = 'settlement.finalized'`,
            [accountId],
          ),
        ]);
        const known = new Set(events.rows.map(({ id }) => id));
        return (
          [funded, unread].every(({ rowCount }) => rowCount === 0) &&
          paid.rows.every(({ id, is_final }) => is_final && known.has(id))
        );
      };
      await waitUntil(isQuiet, { everyMs: 100 });
    },
    stop: () => pool.end(),
  };
};
