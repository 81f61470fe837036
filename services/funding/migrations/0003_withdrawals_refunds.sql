-- Up Migration
create table withdrawals (
  withdrawal_id text collate "C" primary key,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  -- The wallet's key: whose signature moves the money.
  owner text collate "C" not null,
  amount bigint not null check (amount > 0),
  destination_address text collate "C" not null,
  destination_token_account text collate "C" not null,
  status text not null default 'pending_approval' check (status in
    ('pending_approval', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired')),
  generation integer not null default 0,
  tx_hash text,
  slot bigint,
  failure_code text,
  failure_message text,
  created_at timestamptz not null,
  pending_until timestamptz not null,
  progressed_at timestamptz not null default app_now(),
  check (status not in ('submitted', 'confirmed', 'finalized') or tx_hash is not null),
  check ((status = 'failed') = (failure_code is not null))
);
create index withdrawals_by_account on withdrawals (account_id, withdrawal_id desc);
-- Of the background job: small, because finished rows leave it.
create index withdrawals_open on withdrawals (progressed_at)
  where status in ('pending_approval', 'submitted', 'confirmed');

create table refunds (
  refund_id text collate "C" primary key,
  settlement_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  reason text,
  -- new: written before anything is reserved of the settlement, so that no reservation is ever without its row;
  -- void: given up before it was prepared. Neither is shown to anybody.
  status text not null default 'new' check (status in ('new', 'void',
    'pending_signature', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired')),
  service_id uuid,
  payout_address text collate "C",
  payer_account_id text collate "C",
  amount bigint check (amount > 0),
  -- The payer's wallet.
  destination_address text collate "C",
  destination_token_account text collate "C",
  generation integer not null default 0,
  tx_hash text,
  slot bigint,
  failure_code text,
  failure_message text,
  -- When settlement was told that this refund takes nothing of it any more.
  released_at timestamptz,
  created_at timestamptz not null,
  pending_until timestamptz not null,
  progressed_at timestamptz not null default app_now(),
  check (status in ('new', 'void') or (amount is not null and service_id is not null
    and payout_address is not null and payer_account_id is not null
    and destination_address is not null and destination_token_account is not null)),
  check (status not in ('submitted', 'confirmed', 'finalized') or tx_hash is not null),
  check ((status = 'failed') = (failure_code is not null))
);
create index refunds_by_service on refunds (service_id, refund_id desc);
create index refunds_by_vendor on refunds (vendor_account_id, refund_id desc);
create index refunds_by_payer on refunds (payer_account_id, refund_id desc);
create index refunds_by_settlement on refunds (settlement_id, refund_id desc);
create index refunds_open on refunds (progressed_at)
  where status in ('new', 'pending_signature', 'submitted', 'confirmed');
create index refunds_to_release on refunds (progressed_at)
  where released_at is null and status in ('void', 'failed', 'cancelled', 'expired');
