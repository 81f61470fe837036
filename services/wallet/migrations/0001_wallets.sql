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
  token_account_drive integer not null default 0,
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
  progressed_at timestamptz not null default app_now(),
  check ((kind = 'approve') = (allowance is not null)),
  check ((status = 'failed') = (failure_code is not null))
);
create index preparations_by_wallet on preparations (wallet_id, preparation_id desc);
