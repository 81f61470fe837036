-- Up Migration
-- What moved on chain, one row per object: a projection of other services' facts. Both parties read the same row, so a
-- fact about it is one write. Everything but the status is null until the fact that tells it has come: a fact may
-- overtake another, and until then no account is named, so nobody sees the row.
create table transactions (
  object_id text collate "C" primary key,
  type text not null check (type in ('payment', 'deposit', 'withdrawal', 'refund', 'dev_fund')),
  status text not null check (status in ('confirmed', 'finalized', 'reversed')),
  tx_hash text,
  -- Null: from outside, to outside.
  from_account_id text collate "C",
  to_account_id text collate "C",
  -- What left, and which part of it is the platform's fee.
  amount bigint check (amount > 0),
  fee_amount bigint check (fee_amount >= 0 and fee_amount < amount),
  service_id uuid,
  delegate_id text collate "C",
  created_at timestamptz,
  -- When its owner was last asked about it, facts being late.
  asked_at timestamptz not null default app_now(),
  check ((created_at is null) = (amount is null) and (created_at is null) = (fee_amount is null)),
  check ((created_at is null) = (from_account_id is null and to_account_id is null))
);
-- A list is a merge of one index scan per type and direction, so that a filter by type costs no more than none.
create index transactions_out on transactions (from_account_id, type, created_at desc, object_id desc);
create index transactions_in on transactions (to_account_id, type, created_at desc, object_id desc);
create index transactions_by_delegate on transactions (delegate_id, type, created_at desc, object_id desc)
  where delegate_id is not null;
-- Of the job that asks: small, because a transfer that is told to its end leaves it.
create index transactions_unsure on transactions (asked_at)
  where type = 'payment' and (status = 'confirmed' or created_at is null);
