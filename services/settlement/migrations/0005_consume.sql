-- Up Migration
-- What was prepaid: the `units` of the quote's scope, null for a payment of one delivery. Settlements from before this
-- migration stay without: nobody could consume when they were quoted.
alter table settlements add column units_total integer check (units_total between 1 and 1000000000);
alter table settlements add column units_consumed integer not null default 0;
alter table settlements add constraint settlements_units
  check (units_consumed >= 0 and units_consumed <= coalesce(units_total, 0));

-- One row per request that took units, for ever: the key makes consume repeatable.
create table consumptions (
  settlement_id text collate "C" not null references settlements,
  request_id text collate "C" not null,
  units integer not null check (units > 0),
  -- Of the settlement after this request: a repeat is answered with it.
  units_consumed integer not null check (units_consumed >= units),
  created_at timestamptz not null default app_now(),
  primary key (settlement_id, request_id)
);
