-- Up Migration
-- The newest slot of a payment that was taken off the sight: a sight of an older slot does not know of it and would
-- bring its money back.
alter table payers add column landed_slot bigint not null default 0;
