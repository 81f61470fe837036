-- How far the chain was compared with the record (reads/compare-records.ts of this service).
alter table settings
  -- Every transaction of a fee payer up to this slot was compared.
  add column compared_slot bigint,
  add column compared_at timestamptz,
  -- When the server of the database had started, as it was compared. Another start may be that of
  -- a restored copy, so nothing is signed before the next comparison.
  add column compared_start timestamptz,
  -- What the record lacks up to this slot is known to be lost.
  add column lost_slot bigint,
  -- Transactions of the lost records may be included up to this block.
  add column lost_until_height bigint;

-- Each time that the chain had a transaction of a fee payer and the record had not. Settlement
-- copies it into its table `restores`.
create table lost_records (
  lost_id text collate "C" primary key,
  -- One of the lost transactions, whose signature proves it.
  signature text collate "C" not null,
  fee_payer text collate "C" not null,
  -- The time of the block of the oldest one.
  since timestamptz not null,
  found_at timestamptz not null default app_now()
);
