-- What a final transaction took from the platform's fee payer, as the chain says. Null: it is not
-- known yet, it took nothing, or somebody else's fee payer paid.
alter table transactions add column fee_lamports bigint;
-- The rest of the change of the fee payer's balance: the rent of token accounts that it created.
alter table transactions add column rent_lamports bigint;

-- Sums of these costs. Of the platform they are by day, and of an account by month: a month of the
-- platform is at most 31 rows of each kind, however many accounts it has.
create table network_costs (
  -- Who the transaction was for: the vendor of a payment, else the account that asked for it.
  -- Empty: the platform.
  account_id text collate "C" not null,
  kind text not null,
  -- The first day of the day or month, in UTC, in which the cost became known.
  period date not null,
  transactions bigint not null,
  fee_lamports bigint not null,
  rent_lamports bigint not null,
  primary key (account_id, kind, period)
)
-- A row is changed by every payment of its period, and fits on its page again.
with (fillfactor = 50);
-- The accounts that cost most in a month.
create index network_costs_by_month on network_costs (period) where account_id <> '';

-- Transactions of ours whose cost no provider has told yet.
create table unread_costs (
  signature text collate "C" primary key,
  intent_id text collate "C" not null,
  kind text not null,
  account_id text collate "C" not null,
  read_after timestamptz not null default app_now(),
  created_at timestamptz not null default app_now()
);
create index unread_costs_due on unread_costs (read_after);
