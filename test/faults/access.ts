import type pg from 'pg';
import { fetchWithin } from '../../deploy/local/processes/chain-connection.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import type { Stack, StackEnvironment } from '../../deploy/local/stack/stack-file.ts';
import { chainOf } from '../support/servers/chain.ts';

/** The addresses of an installation with one environment `test`. */
type Addresses = Pick<Stack, 'gateway_url' | 'gateway_urls' | 'mail_url' | 'postgres_urls'> & {
  environments: Record<string, Pick<StackEnvironment, 'rpc_url' | 'usdc_mint' | 'fee_wallet' | 'fee_payer'>>;
};

/**
 * An installation as clients and invariants use it, however it was started: its addresses, its
 * chain, its database.
 */
export type Access = {
  stack: Addresses;
  /** The addresses of its fee payer and of its delegate authorities. */
  signers: readonly string[];
  chain: ReturnType<typeof chainOf>;
  /** What the fee wallet held before the first payment of the run, in micro-units. */
  feesBefore: bigint;
  /**
   * One JSON-RPC call, control methods included. Throws when the chain is unavailable or refuses.
   */
  rpc: <T>(method: string, ...params: unknown[]) => Promise<T>;
  /** Rows of a query over the tables of one database, as superuser. */
  query: <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) => Promise<Row[]>;
};

/** The chain of a busy machine answers late. */
const RPC_TIMEOUT_MS = 30_000;

/**
 * When each settlement's acceptance was committed: `created_at` is the beginning of its
 * transaction, which may wait for locks. A deferred trigger runs as the last step of the commit,
 * and delays it by the time that the fault `commits-wait` sets.
 */
const RECORD_ACCEPTANCES = `
  create schema campaign;
  create table campaign.acceptances (settlement_id text primary key, committed_at timestamptz not null);
  create table campaign.commits (held_ms integer not null);
  insert into campaign.commits values (0);
  create function campaign.record_acceptance() returns trigger language plpgsql security definer as $$
  begin
    perform pg_sleep((select held_ms from campaign.commits) / 1000.0);
    insert into campaign.acceptances values (new.settlement_id, clock_timestamp()) on conflict do nothing;
    return null;
  end $$;
  create constraint trigger record_acceptance after insert on settlement.settlements
    deferrable initially deferred for each row execute function campaign.record_acceptance()`;

/** Removes everything that `openAccess` adds to the database. */
const FORGET_ACCEPTANCES = 'drop schema if exists campaign cascade';

/** One JSON-RPC call of the chain at this address. */
export const rpcAt = (url: string): Access['rpc'] => {
  const fetchChain = fetchWithin(RPC_TIMEOUT_MS);
  let calls = 0;
  return async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetchChain(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++calls, method, params }),
    });
    const body = (await response.json()) as { result: T; error?: { message: string } };
    if (body.error) throw new Error(`${method}: ${body.error.message}`);
    return body.result;
  };
};

/**
 * Connects to a running installation, and records from now on when its payments are accepted. No
 * payment may be under way.
 * @param signers the addresses of its fee payer and of its delegate authorities
 */
export const openAccess = async (
  stack: Addresses,
  signers: readonly string[],
): Promise<Access & { close: () => Promise<void> }> => {
  const environment = stack.environments.test!;
  const database = connectDatabases(stack.postgres_urls, { max: 4, connectionTimeoutMillis: 15_000 });
  // A run that was killed has left its records behind.
  await database.of('settlement').query(`${FORGET_ACCEPTANCES}; ${RECORD_ACCEPTANCES}`);
  const chain = chainOf(environment);
  return {
    stack,
    signers,
    chain,
    feesBefore: await chain.balance(environment.fee_wallet),
    rpc: rpcAt(environment.rpc_url),
    query: async (sql, values = []) => {
      // Our own records are beside the payments.
      if (sql.includes('campaign.')) return (await database.of('settlement').query(sql, values)).rows;
      return (await database.query(sql, values)).rows;
    },
    close: async () => {
      await database
        .of('settlement')
        .query(FORGET_ACCEPTANCES)
        .catch(() => {});
      await database.end();
    },
  };
};
