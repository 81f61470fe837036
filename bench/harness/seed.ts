import type pg from 'pg';
import { writtenColumns } from './rows.ts';
import type { Run } from './run.ts';

/** The template of the rows: one real payment with its accounts. */
type Template = {
  quoteId: string;
  settlementId: string;
  vendor: { accountId: string; serviceId: string };
  payer: { accountId: string; walletId: string };
};

type Copied = {
  table: string;
  /** The row of the table that is copied. */
  where: string;
  values: readonly string[];
  /** The number of copies for that many settlements and accounts. */
  count: (size: number, accounts: number) => number;
  /** Column → SQL expression of the copy's number `i`. Every other column is the template's. */
  set: Record<string, string>;
};

const ACCOUNTS = 1_000_000;
const AT_ONCE = 50_000;
const DAY_MS = 86_400_000;
/** Settlements of the last 30 days. Their accounts are older. */
const [FIRST_MS, ACCOUNTS_MS] = [30 * DAY_MS, 60 * DAY_MS];
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const base32 = (value: string, digits: number): string =>
  Array.from({ length: digits }, (_, index) => {
    const shift = 5 * (digits - 1 - index);
    return `substr('${ALPHABET}', ((${value} >> ${shift}) & 31)::int + 1, 1)`;
  }).join(' || ');

/** SQL of an id in our format: 48 bits of time, version and variant of a UUIDv7, a number. */
const idOf = (prefix: string, ms: string, number: string): string =>
  `('${prefix}_' || ${base32(ms, 10)} || 'e008' || ${base32(`((${number})::bigint * 1000003)`, 12)})`;

const personsOf = (now: number) => (prefix: string, number: string) =>
  idOf(prefix, `${now - ACCOUNTS_MS}`, number);

/** Accounts, their wallets, and the services of every tenth of them. */
const accountStatements = ({ vendor, payer }: Template, now: number, accounts: number): Copied[] => {
  const person = personsOf(now);
  const everyAccount = () => accounts;
  const vendors = () => accounts / 10;
  const account = person('acct', 'i');
  return [
    {
      table: 'identity.accounts',
      where: 'account_id = $1',
      values: [payer.accountId],
      count: everyAccount,
      set: { account_id: account, email: `'seed-' || i || '@example.com'` },
    },
    {
      table: 'identity.sessions',
      where: 'account_id = $1',
      values: [payer.accountId],
      count: everyAccount,
      set: { account_id: account, session_id: person('ses', 'i') },
    },
    {
      table: 'identity.services',
      where: 'service_id = $1',
      values: [vendor.serviceId],
      count: vendors,
      set: { account_id: account, service_id: `md5('service' || i)` },
    },
    {
      table: 'identity.keys',
      where: 'service_id = $1',
      values: [vendor.serviceId],
      count: vendors,
      set: {
        account_id: account,
        service_id: `md5('service' || i)`,
        key_id: person('key', 'i'),
        key_hash: `md5('key' || i) || md5('hash' || i)`,
      },
    },
    {
      table: 'wallet.wallets',
      where: 'wallet_id = $1',
      values: [payer.walletId],
      count: everyAccount,
      set: { account_id: account, wallet_id: person('wal', 'i'), public_key: `'seed-' || i` },
    },
    {
      // Polled only tomorrow, because these keys do not exist on the chain.
      table: 'wallet.snapshots',
      where: 'wallet_id = $1',
      values: [payer.walletId],
      count: everyAccount,
      set: { wallet_id: person('wal', 'i'), poll_at: `now() + interval '1 day'` },
    },
    {
      table: 'settlement.payers',
      where: 'wallet_id = $1',
      values: [payer.walletId],
      count: everyAccount,
      set: { account_id: account, wallet_id: person('wal', 'i'), held: '0' },
    },
  ];
};

/** The keys of attempt and quote of each settlement, with the columns of the settlement. */
const keyStatements = ({ table, values, count, set }: Copied): Copied[] =>
  table !== 'settlement.settlements'
    ? []
    : (['attempt', 'quote'] as const).map((kind) => ({
        table: 'settlement.settlement_keys',
        where: `settlement_id = $1 and kind = '${kind}'`,
        values,
        count,
        set: {
          key: kind === 'quote' ? set.quote_id! : `${set.account_id} || '/' || ${set.payment_attempt_id}`,
          settlement_id: set.settlement_id!,
          account_id: set.account_id!,
          created_at: set.created_at!,
        },
      }));

const all = (size: number): number => size;

/** Every fourth settlement belongs to the vendor whose lists are measured. */
const paymentStatements = (template: Template, now: number, step: number, accounts: number): Copied[] => {
  const { quoteId, settlementId, vendor } = template;
  const person = personsOf(now);
  const ms = `(${now - FIRST_MS} + (i * ${step})::bigint)`;
  const at = `to_timestamp(${ms} / 1000.0)`;
  const [settlement, quote] = [idOf('stl', ms, 'i'), idOf('q', ms, 'i')];
  const payerNumber = `(i % ${accounts})`;
  const vendorNumber = `(i * 7919 % ${Math.max(1, accounts / 10)})`;
  const vendorAccount = `case when i % 4 = 0 then '${vendor.accountId}' else ${person('acct', vendorNumber)} end`;
  const service = `case when i % 4 = 0 then '${vendor.serviceId}' else md5('service' || ${vendorNumber}) end`;
  const [payerAccount, attempt] = [person('acct', payerNumber), `('seed-' || i)`];
  const intent = `'settle:' || ${payerAccount} || ':' || ${attempt}`;
  const signature = `rpad('seed' || translate(i::text, '0', 'z'), 88, 'x')`; // Base58 has no zero.
  return [
    {
      table: 'quote.quotes',
      where: 'quote_id = $1',
      values: [quoteId],
      count: all,
      set: {
        quote_id: quote,
        account_id: vendorAccount,
        service_id: service,
        settlement_id: settlement,
        settlement_state: '3',
        query_at: 'null',
        created_at: at,
        expires_at: `${at} + interval '10 minutes'`,
      },
    },
    {
      table: 'settlement.settlements',
      where: 'settlement_id = $1',
      values: [settlementId],
      count: all,
      set: {
        settlement_id: settlement,
        account_id: payerAccount,
        payment_attempt_id: attempt,
        wallet_id: person('wal', payerNumber),
        quote_id: quote,
        vendor_account_id: vendorAccount,
        service_id: service,
        tx_hash: signature,
        status: `'redeemed'`,
        chain_status: `'finalized'`,
        holding: 'false',
        under_way_since: 'null',
        expires_from: 'null',
        created_at: at,
        issued_at: at,
        progressed_at: at,
        redeemed_at: at,
        redeem_expires_at: `${at} + interval '15 minutes'`,
      },
    },
    {
      table: 'chain_submitter.intents',
      where: 'object_id = $1',
      values: [settlementId],
      count: all,
      set: {
        intent_id: intent,
        object_id: settlement,
        status: `'finalized'`,
        signature,
        created_at: at,
        progressed_at: at,
        next_at: at,
      },
    },
    {
      table: 'chain_submitter.transactions',
      where: 'intent_id = (select intent_id from chain_submitter.intents where object_id = $1)',
      values: [settlementId],
      count: all,
      set: { signature, intent_id: intent, creates: 'null', signed_at: at },
    },
    {
      table: 'wallet.transactions',
      where: 'object_id = $1',
      values: [settlementId],
      count: all,
      set: {
        object_id: settlement,
        from_account_id: payerAccount,
        to_account_id: vendorAccount,
        service_id: service,
        status: `'finalized'`,
        tx_hash: signature,
        created_at: at,
      },
    },
  ];
};

/**
 * Fills the real tables with finished settlements and up to a million accounts, within every
 * constraint. A copied row is as wide as its real template. Secondary indexes are built afterwards.
 * That is faster than maintaining them, and they are then like those of an old database after its
 * maintenance.
 */
export const seedSettlements = async (
  { report }: Run,
  pool: pg.Pool,
  template: Template,
  size: number,
): Promise<void> => {
  if (size === 0) return;
  const accounts = Math.max(10, Math.min(ACCOUNTS, size));
  const db = await pool.connect();
  try {
    // Only for this session, whose data can be created again.
    await db.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'");
    const now = Date.now();
    const payments = paymentStatements(template, now, FIRST_MS / size, accounts);
    const copied = [
      ...accountStatements(template, now, accounts),
      ...payments,
      ...payments.flatMap(keyStatements),
    ];
    for (const each of copied) {
      const indexes = await dropIndexes(db, each.table);
      const total = each.count(size, accounts);
      for (let from = 0; from < total; from += AT_ONCE) {
        report.progress(`seeding ${each.table}: ${from} of ${total}`);
        await copyRows(db, each, from, Math.min(total, from + AT_ONCE));
      }
      report.progress(`seeding ${each.table}: indexes`);
      for (const index of indexes) await db.query(index);
    }
    report.progress('seeding: vacuum');
    await db.query('vacuum analyze');
    await db.query('checkpoint');
  } finally {
    db.release(true);
  }
};

/** Copies every column that `set` does not name, so a new column needs no change here. */
const copyRows = async (db: pg.PoolClient, copied: Copied, from: number, to: number): Promise<void> => {
  const { table, where, values, set } = copied;
  const columns = await writtenColumns(db, table);
  const shown = columns.map(({ name, type }) =>
    set[name] === undefined ? `template.${name}` : `(${set[name]})::${type}`,
  );
  const { rowCount } = await db.query(
    `insert into ${table} (${columns.map(({ name }) => name).join(', ')})
     select ${shown.join(', ')} from (select * from ${table} where ${where} limit 1) as template,
       generate_series(${from}::bigint, ${to - 1}::bigint) as i`,
    [...values],
  );
  if (rowCount !== to - from) throw new Error(`${table}: the row to copy does not exist`);
};

/** Drops the indexes that no constraint needs. @returns the statements that create them again */
const dropIndexes = async (db: pg.PoolClient, table: string): Promise<string[]> => {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) await db.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
};
