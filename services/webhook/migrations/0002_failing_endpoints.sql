-- no transaction
-- The endpoints that fail, those that fail longest first.
create index concurrently if not exists endpoints_failing on endpoints (failing_since)
  where failing_since is not null;
