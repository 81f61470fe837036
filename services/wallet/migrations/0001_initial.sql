-- Ids are TypeIDs. They sort by time under the C collation, so every list pages by them.
create table wallets (
  wallet_id text collate "C" primary key,
  account_id text collate "C" not null,
  kind text not null check (kind in ('external', 'provisioned')),
  public_key text collate "C" not null,
  token_account text collate "C" not null,
  -- The delegate authority that this wallet names; settlement stores it with its payers.
  -- Authorities are numbered and retired one by one, so each wallet has its own.
  authority text collate "C" not null,
  label text,
  -- The owner's key, encrypted by the owner's client, which alone can decrypt it.
  backup text,
  is_default boolean not null,
  created_at timestamptz not null,
  -- The progress of the token account that the platform pays for; null for a linked wallet.
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

-- Transactions that were prepared for the owner's signature. Earlier ones stay, because their
-- events may be late.
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
  -- Payments count against the approved allowance from this time on. The event of its outcome may
  -- be late.
  submitted_at timestamptz,
  progressed_at timestamptz not null default app_now(),
  check ((kind = 'approve') = (allowance is not null)),
  check ((status = 'failed') = (failure_code is not null))
);
create index preparations_by_wallet on preparations (wallet_id, preparation_id desc);

-- What moved on the chain, one row per object: a projection of other services' events. Both sides
-- read the same row, so an event is one write. Events arrive out of order: until the event with the
-- details has arrived, every column but the status is null. The row names no account then, so
-- no account sees it.
create table transactions (
  object_id text collate "C" primary key,
  type text not null check (type in ('payment', 'deposit', 'withdrawal', 'refund', 'dev_fund')),
  status text not null check (status in ('confirmed', 'finalized', 'reversed')),
  tx_hash text,
  -- Null: from outside, to outside.
  from_account_id text collate "C",
  to_account_id text collate "C",
  -- What the payer paid, and the part of it that is the platform's fee.
  amount bigint check (amount > 0),
  fee_amount bigint check (fee_amount >= 0 and fee_amount < amount),
  service_id uuid,
  delegate_id text collate "C",
  -- What was bought.
  item text,
  created_at timestamptz,
  check ((created_at is null) = (amount is null) and (created_at is null) = (fee_amount is null)),
  check ((created_at is null) = (from_account_id is null and to_account_id is null))
);
-- A list merges one index scan per type and direction, so a filter by type costs nothing extra.
create index transactions_out on transactions (from_account_id, type, created_at desc, object_id desc);
create index transactions_in on transactions (to_account_id, type, created_at desc, object_id desc);
create index transactions_by_delegate on transactions (delegate_id, type, created_at desc, object_id desc)
  where delegate_id is not null;
-- A person searches for a transaction that an explorer shows.
create index transactions_by_hash on transactions using hash (tx_hash);

-- What an account paid, sold, got refunded and refunded in a UTC day: the sums of its transactions
-- that are not reversed. The statement that changes a transaction adds the difference
-- (docs/adr/0088), so the sums are always those of the rows. A difference may be negative, so no
-- check forbids that.
create table day_sums (
  account_id text collate "C" not null,
  side text collate "C" not null check (side in ('paid', 'sold', 'refunded', 'returned')),
  day date not null,
  -- Of a payer: the delegate that paid, or whose payment was refunded. A vendor is not told.
  delegate_id text collate "C",
  service_id uuid,
  amount bigint not null,
  fee_amount bigint not null,
  transfers bigint not null,
  constraint day_sums_key unique nulls not distinct (account_id, side, day, delegate_id, service_id)
)
-- A day in which something moves is written often, and its index never.
with (fillfactor = 80);

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
  -- When something changed or the owner read it last. Active wallets are polled often, idle ones
  -- seldom.
  active_at timestamptz not null default app_now(),
  poll_at timestamptz not null default app_now()
);
create index snapshots_due on snapshots (poll_at);
