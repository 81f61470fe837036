-- Up Migration
create table dev_funds (
  fund_id text collate "C" primary key,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  amount bigint not null check (amount > 0),
  status text not null default 'new' check (status in ('new', 'signed', 'confirmed', 'finalized', 'failed')),
  generation integer not null default 0,
  -- How often the job was published; a re-drive needs a message id of its own.
  drive integer not null default 0,
  tx_hash text,
  slot bigint,
  failure_message text,
  created_at timestamptz not null default app_now(),
  progressed_at timestamptz not null default app_now(),
  check (status not in ('confirmed', 'finalized') or tx_hash is not null)
);
create index dev_funds_by_account on dev_funds (account_id, fund_id desc);
create index dev_funds_due on dev_funds (progressed_at) where status in ('new', 'signed');
