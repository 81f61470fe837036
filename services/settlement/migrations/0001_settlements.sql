-- Up Migration
-- Wallets that pay: their last sight on chain, and what accepted payments hold of it
-- (docs/design/settle.md, rule 5).
create table payers (
  wallet_id text collate "C" primary key,
  account_id text collate "C" not null,
  owner text not null,
  authority text not null,
  balance bigint not null check (balance >= 0),
  -- What our delegate authority may still spend; 0 when it is not the delegate.
  allowance bigint not null check (allowance >= 0),
  as_of_slot bigint not null,
  held bigint not null default 0 check (held >= 0)
);

-- One row is the attempt and the settlement that it becomes.
create table settlements (
  settlement_id text collate "C" primary key,
  account_id text collate "C" not null,
  payment_attempt_id text collate "C" not null,
  delegate_id text collate "C",
  wallet_id text collate "C" not null references payers,
  quote_id text collate "C" not null,
  quote_token text not null,
  vendor_account_id text collate "C" not null,
  service_id uuid not null,
  quote_amount bigint not null check (quote_amount > 0),
  fee_amount bigint not null check (fee_amount >= 0 and fee_amount < quote_amount),
  redeem_window_seconds integer not null,
  status text not null default 'pending' check (status in ('pending', 'issued', 'redeemed', 'expired', 'failed')),
  chain_status text not null default 'pending'
    check (chain_status in ('pending', 'confirmed', 'finalized', 'failed')),
  -- Whether quote_amount is part of the payer's held now.
  holding boolean not null default true,
  generation integer not null default 0,
  tx_hash text,
  -- Transactions that were confirmed and then forked away.
  superseded_tx_hashes text[] not null default '{}',
  settlement_token text,
  issued_at timestamptz,
  redeem_expires_at timestamptz,
  redeemed_at timestamptz,
  redeem_id text,
  failure_code text,
  failure_message text,
  drive integer not null default 1,
  progress_at timestamptz not null default app_now(),
  created_at timestamptz not null default app_now(),
  check ((status in ('issued', 'redeemed', 'expired')) <= (settlement_token is not null and issued_at is not null)),
  check ((status = 'redeemed') = (redeemed_at is not null)),
  check ((failure_code is not null) = (status = 'failed' or chain_status = 'failed'))
);
-- Rule 1: one attempt per payer account and payment_attempt_id.
create unique index settlements_by_attempt on settlements (account_id, payment_attempt_id);
-- Rule 2: one paying settlement per quote.
create unique index settlements_by_quote on settlements (quote_id) where status <> 'failed';
create index settlements_by_payer on settlements (account_id, settlement_id desc);
create index settlements_by_service on settlements (service_id, settlement_id desc);
create index settlements_by_vendor on settlements (vendor_account_id, settlement_id desc);
-- Of the background jobs: small, because finished rows leave them.
create index settlements_to_expire on settlements (redeem_expires_at) where status = 'issued';
create index settlements_under_way on settlements (progress_at) where chain_status in ('pending', 'confirmed');
