-- Up Migration
-- While a payment is forked away nobody can redeem it, so that its window stands still: since when it is away, and how
-- long it was away before. What its payer was answered (redeem_expires_at) does not change.
alter table settlements
  add column forked_at timestamptz,
  add column forked_for interval not null default '0';
