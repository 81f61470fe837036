-- Up Migration
-- Calls with an Idempotency-Key, for 24 hours (docs/adr/0017-idempotency-keys.md).
create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  -- SHA-256 of the key, and of the checked request with the scope of its credential.
  key_hash bytea not null,
  fingerprint bytea not null,
  -- What a call with several steps has begun to create.
  object_id text collate "C",
  -- What the call was answered, without a secret; null while it is under way. Not jsonb: the same text as the first time.
  answer json,
  -- Until then what was begun is left to the call that has begun it.
  leased_until timestamptz not null,
  created_at timestamptz not null default app_now(),
  primary key (account_id, operation, key_hash),
  check (object_id is not null or answer is not null)
);
create index idempotency_by_age on idempotency (created_at);
