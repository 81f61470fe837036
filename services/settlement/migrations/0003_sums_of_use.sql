-- Up Migration
-- What was consumed of a settlement in a second, once its requests are forgotten.
create table consumption_sums (
  settlement_id text collate "C" not null references settlements,
  second timestamptz not null,
  requests bigint not null check (requests > 0),
  units bigint not null check (units >= requests),
  primary key (settlement_id, second)
);

-- What was used of an authorization in a second, once its usage ids are forgotten.
create table use_sums (
  settlement_id text collate "C" not null references authorizations,
  second timestamptz not null,
  uses bigint not null check (uses > 0),
  amount_pico bigint not null check (amount_pico >= uses),
  primary key (settlement_id, second)
);
