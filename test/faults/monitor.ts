import { setTimeout as sleep } from 'node:timers/promises';
import { PLATFORM_SERVICE_ID } from '../../shared/contract/platform.ts';
import type { Access } from './access.ts';
import type { Break } from './break.ts';

const EVERY_MS = 400;
/** Settlement's own setting, TAB_MAX_NEW_PAYER_MICRO (docs/economics.md). */
const NEW_PAYER_MICRO = 5_000_000;
/** Settlement's own settings (docs/adr/0061). */
const CREDIT = { firstMicro: 100_000, perPaid: 4, laterMicro: 5_000_000 };

/** What must hold at every moment. Each check is one statement, and so one snapshot. */
const checks: Record<string, string> = {
  'held-is-what-holds': `
    select wallet_id || ' holds ' || held || ', its payments ' || coalesce(sum, 0) as what
    from settlement.payers left join (
      select wallet_id, sum(quote_amount) from settlement.settlements where holding group by 1) as holding using (wallet_id)
    where held <> coalesce(sum, 0)`,
  // A sign-in of the last minutes may exceed the limits of its account.
  'delegates-stay-within-their-limits': `
    select delegate_id || ' used ' || (total_held + total_spent) || ' of ' || total || ', in the month '
      || (month_held + month_spent) || ' of ' || monthly || ', in the day ' || (day_held + day_spent) || ' of ' || daily as what
    from settlement.delegates
    where delegate_id <> account_id and (total_held + total_spent > total or month_held + month_spent > monthly or day_held + day_spent > daily)`,
  'delegates-counters-are-their-payments': `
    select delegate_id || ' has ' || total_held || '/' || total_spent || ', its payments '
      || coalesce(held, 0) || '/' || coalesce(spent, 0) as what
    from settlement.delegates left join (
      select coalesce(delegate_id, account_id) as delegate_id, sum(quote_amount) filter (where holding) as held,
        sum(quote_amount) filter (where not holding and chain_status in ('confirmed', 'finalized')) as spent
      from settlement.settlements where account_id is not null group by 1) as payments using (delegate_id)
    where (total_held, total_spent) is distinct from (coalesce(held, 0), coalesce(spent, 0))`,
  'one-live-generation': `
    select intent_id as what from chain_submitter.transactions where status = 'live'
    group by 1 having count(*) > 1`,
  // A payment of fees that a fork has removed for good is no longer paid.
  'fees-stay-within-credit': `
    select account_id || ' owes ' || accrued - paid || ' of ' || credit as what from (
      select *, greatest(${CREDIT.firstMicro}, least(paid * ${CREDIT.perPaid}, ${CREDIT.laterMicro})) as credit
      from settlement.fee_accounts) as f
    where accrued - paid > credit and not exists (
      select from settlement.settlements where scope ->> 'account_id' = f.account_id
        and service_id = '${PLATFORM_SERVICE_ID}' and issued_at is not null and chain_status = 'failed')`,
  'new-payers-stay-within-their-cap': `
    select account_id || ' has ' || open || ' open in ' || tabs || ' tabs' as what from (
      select account_id, sum(ceiling) as open, count(*) as tabs from settlement.authorizations
      where due_at is not null group by 1) as t
    where open > ${NEW_PAYER_MICRO} and not exists (
      select from settlement.settlements as s where s.account_id = t.account_id and s.chain_status = 'finalized')`,
  'a-payment-has-its-keys': `
    with own as (
      select 'attempt' as kind, account_id || '/' || payment_attempt_id as key, settlement_id from settlement.settlements
      union all select 'quote', quote_id, settlement_id from settlement.settlements where status not in ('failed', 'voided')
      union all select 'attempt', account_id || '/' || payment_attempt_id, settlement_id from settlement.extensions
      union all select 'quote', quote_id, settlement_id from settlement.extensions
      union all select 'message', message_hash, settlement_id from settlement.settlements where account_id is null
      union all select 'external_id', service_id || '/' || source_account || '/' || external_id, settlement_id
        from settlement.settlements where status <> 'failed'
    ), named as (select * from own where key is not null),
    known as (select kind, key, settlement_id from settlement.settlement_keys)
    select kind || ' ' || key || ' of ' || settlement_id as what from (
      (table named except table known) union all (table known except table named)) as differs`,
  'one-settlement-per-quote': `
    select quote_id as what from settlement.settlements where status not in ('failed', 'voided') and quote_id is not null group by 1 having count(*) > 1`,
};

/**
 * Checks repeatedly while the faults run. While the database is unavailable, it tries again later.
 */
export const startMonitor = (harness: Pick<Access, 'query'>) => {
  const breaks = new Map<string, Break>();
  let rounds = 0;
  let watching = true;
  const loop = async () => {
    while (watching) {
      for (const [invariant, sql] of Object.entries(checks)) {
        const rows = await harness.query<{ what: string }>(sql).catch(() => []);
        for (const { what } of rows) breaks.set(`${invariant} ${what}`, { traffic: null, invariant, what });
      }
      rounds += 1;
      await sleep(EVERY_MS);
    }
  };
  const running = loop();
  return {
    stop: async (): Promise<{ breaks: Break[]; rounds: number }> => {
      watching = false;
      await running;
      return { breaks: [...breaks.values()], rounds };
    },
  };
};
