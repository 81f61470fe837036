-- Up Migration
-- Ids are TypeIDs: they sort by time under the C collation, so they are the keyset of every list.
create table wallets (
  wallet_id text collate "C" primary key,
  account_id text collate "C" not null,
  kind text not null check (kind in ('external', 'provisioned')),
  public_key text collate "C" not null,
  token_account text collate "C" not null,
  -- The delegate authority that this wallet names, for good: settlement keeps it with its payers. Numbered authorities
  -- are retired one by one, so it is kept per wallet.
  authority text collate "C" not null,
  label text,
  -- Ciphertext of the owner's key, made and readable in the owner's client alone.
  backup text,
  is_default boolean not null,
  created_at timestamptz not null,
  -- How far the token account has come that the platform pays for; null for a wallet that was only linked.
  token_account_status text check (token_account_status in ('new', 'signed', 'confirmed', 'finalized', 'failed')),
  token_account_generation integer not null default 0,
  token_account_dispatch_count integer not null default 0,
  token_account_progressed_at timestamptz not null default app_now(),
  check ((kind = 'provisioned') = (token_account_status is not null))
);
-- A public key belongs to one account.
create unique index wallets_public_key on wallets (public_key);
create unique index wallets_default on wallets (account_id) where is_default;
create index wallets_by_account on wallets (account_id, wallet_id desc);
create index wallets_token_account_due on wallets (token_account_progressed_at)
  where token_account_status in ('new', 'signed');

-- Transactions prepared for the owner's signature. All are kept: a fact of an earlier one may come late.
create table preparations (
  preparation_id text collate "C" primary key,
  wallet_id text collate "C" not null references wallets,
  kind text not null check (kind in ('approve', 'revoke')),
  allowance bigint check (allowance > 0),
  status text not null default 'new' check (status in ('new', 'signed', 'confirmed', 'finalized', 'failed')),
  generation integer not null default 0,
  slot bigint,
  failure_code text,
  failure_message text,
  created_at timestamptz not null default app_now(),
  -- From when on payments count against what was approved; its outcome may be heard late.
  submitted_at timestamptz,
  progressed_at timestamptz not null default app_now(),
  check ((kind = 'approve') = (allowance is not null)),
  check ((status = 'failed') = (failure_code is not null))
);
create index preparations_by_wallet on preparations (wallet_id, preparation_id desc);

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
  queried_at timestamptz not null default app_now(),
  check ((created_at is null) = (amount is null) and (created_at is null) = (fee_amount is null)),
  check ((created_at is null) = (from_account_id is null and to_account_id is null))
);
-- A list is a merge of one index scan per type and direction, so that a filter by type costs no more than none.
create index transactions_out on transactions (from_account_id, type, created_at desc, object_id desc);
create index transactions_in on transactions (to_account_id, type, created_at desc, object_id desc);
create index transactions_by_delegate on transactions (delegate_id, type, created_at desc, object_id desc)
  where delegate_id is not null;
-- Of the job that asks: small, because a transfer that is told to its end leaves it.
create index transactions_incomplete on transactions (queried_at)
  where type = 'payment' and (status = 'confirmed' or created_at is null);

-- The latest observation of each wallet on the chain, by the watcher or for a call of the owner.
create table snapshots (
  wallet_id text collate "C" primary key references wallets,
  token_account_exists boolean not null default false,
  -- It existed once. If it does not exist now, it was closed.
  token_account_seen boolean not null default false,
  balance bigint not null default 0,
  delegate text collate "C",
  allowance bigint not null default 0,
  delegation_status text not null default 'none'
    check (delegation_status in ('none', 'pending', 'active', 'exhausted', 'overwritten', 'revoked')),
  slot bigint not null default 0,
  -- Null: never observed.
  seen_at timestamptz,
  -- When something changed or the owner read it last. Active wallets are polled often, idle ones seldom.
  active_at timestamptz not null default app_now(),
  poll_at timestamptz not null default app_now()
);
create index snapshots_due on snapshots (poll_at);
