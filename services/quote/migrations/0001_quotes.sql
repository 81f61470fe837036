-- Up Migration
-- Ids are TypeIDs: they sort by time under the C collation, so they are the keyset of every list.
create table quotes (
  quote_id text collate "C" primary key,
  account_id text collate "C" not null,
  service_id uuid not null,
  quote_amount bigint not null check (quote_amount > 0),
  fee_amount bigint not null check (fee_amount >= 0 and fee_amount < quote_amount),
  redeem_window_seconds integer not null,
  quote_token text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- What settlement last said of this quote. A settlement's facts repeat and overtake one another, so only a
  -- later settlement, or a further step of the same one, is taken over.
  settlement_id text collate "C",
  settlement_step smallint check (settlement_step between 1 and 3),
  check ((settlement_id is null) = (settlement_step is null))
);
create index quotes_by_service on quotes (service_id, quote_id desc);
create index quotes_by_account on quotes (account_id, quote_id desc);
