-- Up Migration
-- Each time this database was set back: what was recorded between the two moments is lost, and only the chain knows it.
create table restores (
  restored_at timestamptz primary key default app_now(),
  taken_at timestamptz not null check (taken_at <= restored_at)
);
-- A refusal waits for what is being accepted from any wallet of the account.
create index payers_by_account on payers (account_id);
