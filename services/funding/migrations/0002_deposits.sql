-- Up Migration
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
  -- USDC micro-units: what the provider said last, and what arrived.
  promised_amount bigint check (promised_amount > 0),
  amount bigint check (amount > 0),
  -- The transfer that we saw: the transaction and the place of the instruction in it.
  tx_hash text,
  tx_instruction text,
  problem_code text,
  problem_message text,
  -- When to ask the provider or the chain again, and how often that was done since the last change.
  look_at timestamptz default app_now() + interval '1 minute',
  looks integer not null default 0,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  completed_at timestamptz,
  check ((status = 'completed') = (tx_hash is not null)),
  check ((tx_hash is null) = (tx_instruction is null) and (tx_hash is null) = (amount is null)),
  check ((tx_hash is null) = (completed_at is null)),
  check ((problem_code is null) = (problem_message is null))
);
-- One transfer completes one deposit, whatever a provider says.
create unique index deposits_by_transfer on deposits (tx_hash, tx_instruction);
create index deposits_by_account on deposits (account_id, deposit_id desc);
create index deposits_due on deposits (look_at) where look_at is not null;

-- What providers have said, each thing once. Several payments at a provider may belong to one deposit: a customer
-- whose first card was declined tries another.
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
