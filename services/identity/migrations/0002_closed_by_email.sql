-- no transaction
-- Accounts that are closed and keep their address until they are erased, for operators who search.
create index concurrently if not exists accounts_closed_by_email on accounts (email)
  where closed_at is not null and erased_at is null;
