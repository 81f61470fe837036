-- Up Migration
-- The delegate that had paid what is given back: it sees the refunds of its own payments.
alter table refunds add column delegate_id text collate "C";
