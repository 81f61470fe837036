-- Up Migration
-- How an account stands with the operators (docs/adr/0018).
alter table accounts
  add column frozen_at timestamptz,
  add column limit_factor integer not null default 1 check (limit_factor between 1 and 1000);
create index accounts_standing on accounts (account_id) where frozen_at is not null or limit_factor > 1;
