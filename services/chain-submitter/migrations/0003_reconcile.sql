-- What `npm run ops -- reconcile` has compared, so that the next run reads what is new. Services
-- never write these tables.

-- Until where the history of a token account agrees with the records.
create table reconcile_checkpoints (
  -- The token account.
  account text collate "C" primary key,
  -- Its newest transaction that was compared, which is final, and the slot of that.
  signature text not null,
  slot bigint not null,
  -- The balance after it: the sum of all transactions until then.
  balance bigint not null,
  -- The records that these transactions carry out: how many, and the sum of their hashes.
  known bigint not null,
  records_hash bytea not null check (octet_length(records_hash) = 32),
  -- Transfers that we did not sign.
  foreign_transfers bigint not null,
  foreign_amount bigint not null,
  -- The mint and the keys whose signature makes a transaction ours.
  keys_hash bytea not null check (octet_length(keys_hash) = 32),
  compared_at timestamptz not null default app_now()
);

-- The result of each run that read the chain.
create table reconcile_runs (
  run_id bigint generated always as identity primary key,
  began_at timestamptz not null,
  ended_at timestamptz not null default app_now(),
  from_start boolean not null,
  accounts integer not null,
  -- Transactions that were read from the chain.
  transactions bigint not null,
  -- Accounts with unexplained drift.
  broken integer not null,
  -- Records of one service that another one lacks.
  lacking integer not null,
  -- The first of the errors.
  findings jsonb not null
);
