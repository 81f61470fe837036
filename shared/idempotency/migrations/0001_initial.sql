-- In the schema of every service with calls that accept an Idempotency-Key: these calls, for 24
-- hours (docs/adr/0017-idempotency-keys.md).
create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  -- SHA-256 of the key, and of the validated request with the scope of its credential.
  key_hash bytea not null,
  fingerprint bytea not null,
  -- The object that a call with several steps has begun to create.
  object_id text collate "C",
  -- The answer of the call without secrets; null while the call is in progress. Not jsonb, because
  -- a repeat returns the text of the first answer.
  answer json,
  -- Until this time only the call that began may complete.
  leased_until timestamptz not null,
  created_at timestamptz not null default app_now(),
  primary key (account_id, operation, key_hash),
  check (object_id is not null or answer is not null)
);
create index idempotency_by_age on idempotency (created_at);
