-- Up Migration
-- What refunds have taken of the net: under way or done. Only a reservation that is released gives it back.
alter table settlements add column refund_reserved bigint not null default 0
  check (refund_reserved >= 0 and refund_reserved <= quote_amount - fee_amount);

-- One row per refund of the funding service, for ever: the key makes its calls repeatable.
create table refund_reservations (
  refund_id text collate "C" primary key,
  -- Null for one that was released before it was made; the row keeps it from being made later.
  settlement_id text collate "C" references settlements,
  amount bigint check (amount > 0),
  released_at timestamptz,
  created_at timestamptz not null default app_now(),
  check ((settlement_id is null) = (amount is null)),
  check (settlement_id is not null or released_at is not null)
);
create index refund_reservations_by_settlement on refund_reservations (settlement_id);
