create table dev_funds (
  fund_id text collate "C" primary key,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  amount bigint not null check (amount > 0),
  status text not null default 'new' check (status in ('new', 'signed', 'confirmed', 'finalized', 'failed')),
  generation integer not null default 0,
  -- How often the job was dispatched again. Each dispatch needs a separate message id.
  dispatch_count integer not null default 0,
  tx_hash text,
  slot bigint,
  failure_message text,
  created_at timestamptz not null default app_now(),
  progressed_at timestamptz not null default app_now(),
  check (status not in ('confirmed', 'finalized') or tx_hash is not null)
);
create index dev_funds_by_account on dev_funds (account_id, fund_id desc);
create index dev_funds_due on dev_funds (progressed_at) where status in ('new', 'signed');

create table deposits (
  deposit_id text collate "C" primary key,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  provider text not null check (provider in ('moonpay', 'coinbase')),
  fiat_currency text not null,
  fiat_amount text not null,
  status text not null default 'created' check (status in (
    'created', 'awaiting_payment', 'processing', 'settling', 'completed', 'failed', 'cancelled', 'expired')),
  -- The provider's page for the customer.
  payment_url text,
  -- USDC micro-units: what the provider reported last, and what arrived.
  promised_amount bigint check (promised_amount > 0),
  amount bigint check (amount > 0),
  -- The observed transfer: the transaction and the instruction in it.
  tx_hash text,
  tx_instruction text,
  problem_code text,
  problem_message text,
  -- When the provider or the chain is polled next, and how often it was polled since the last
  -- change.
  poll_at timestamptz default app_now() + interval '1 minute',
  poll_count integer not null default 0,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  completed_at timestamptz,
  check ((status = 'completed') = (tx_hash is not null)),
  check ((tx_hash is null) = (tx_instruction is null) and (tx_hash is null) = (amount is null)),
  check ((tx_hash is null) = (completed_at is null)),
  check ((problem_code is null) = (problem_message is null))
);
-- One transfer completes one deposit, whatever a provider reports.
create unique index deposits_by_transfer on deposits (tx_hash, tx_instruction);
create index deposits_by_account on deposits (account_id, deposit_id desc);
create index deposits_due on deposits (poll_at) where poll_at is not null;

-- What providers have reported, each report once. Several payments at a provider may belong to one
-- deposit: a customer whose first card was declined tries another.
create table deposit_reports (
  report_id bigint generated always as identity primary key,
  deposit_id text collate "C" not null references deposits,
  provider text not null,
  transaction_id text not null,
  provider_status text not null,
  event text not null check (event in ('waiting', 'paid', 'sent', 'refused', 'cancelled')),
  amount bigint,
  tx_hash text,
  source text not null check (source in ('webhook', 'poll')),
  received_at timestamptz not null default app_now()
);
create unique index deposit_reports_once
  on deposit_reports (provider, transaction_id, provider_status, coalesce(tx_hash, ''));
create index deposit_reports_by_deposit on deposit_reports (deposit_id, report_id);

create table withdrawals (
  withdrawal_id text collate "C" primary key,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  -- The wallet's key, which signs the withdrawal.
  owner text collate "C" not null,
  amount bigint not null check (amount > 0),
  destination_address text collate "C" not null,
  destination_token_account text collate "C" not null,
  status text not null default 'pending_approval' check (status in
    ('pending_approval', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired')),
  generation integer not null default 0,
  tx_hash text,
  slot bigint,
  -- When its transfer was first seen confirmed. Kept when a fork removes it.
  confirmed_at timestamptz,
  failure_code text,
  failure_message text,
  created_at timestamptz not null,
  pending_until timestamptz not null,
  progressed_at timestamptz not null default app_now(),
  -- From where the last call came that submits it (network and kind of program). The owner is told
  -- once it is accepted, also if that call has ended before.
  approver jsonb,
  check (status not in ('submitted', 'confirmed', 'finalized') or tx_hash is not null),
  check ((status = 'failed') = (failure_code is not null))
);
create index withdrawals_by_account on withdrawals (account_id, withdrawal_id desc);
-- For the sweep. It is small, because finished withdrawals are not in it.
create index withdrawals_open on withdrawals (progressed_at)
  where status in ('pending_approval', 'submitted', 'confirmed');

create table refunds (
  refund_id text collate "C" primary key,
  settlement_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  reason text,
  -- new: inserted before anything is reserved of the settlement, so that every reservation has a
  -- row; void: abandoned before it was prepared. Neither is ever shown.
  status text not null default 'new' check (status in ('new', 'void',
    'pending_signature', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired')),
  service_id uuid,
  payout_address text collate "C",
  payer_account_id text collate "C",
  -- The delegate that made the payment. It sees the refunds of its own payments.
  delegate_id text collate "C",
  -- What was bought by the payment.
  item text,
  amount bigint check (amount > 0),
  -- The payer's wallet.
  destination_address text collate "C",
  destination_token_account text collate "C",
  generation integer not null default 0,
  tx_hash text,
  slot bigint,
  -- When its transfer was first seen confirmed. Kept when a fork removes it.
  confirmed_at timestamptz,
  failure_code text,
  failure_message text,
  -- When the reservation at settlement was released.
  released_at timestamptz,
  created_at timestamptz not null,
  pending_until timestamptz not null,
  progressed_at timestamptz not null default app_now(),
  check (status in ('new', 'void') or (amount is not null and service_id is not null
    and payout_address is not null
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
