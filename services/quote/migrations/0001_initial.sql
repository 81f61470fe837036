-- Up Migration
-- Ids are TypeIDs: they sort by time under the C collation, so they are the keyset of every list.
create table quotes (
  quote_id text collate "C" primary key,
  account_id text collate "C" not null,
  service_id uuid not null,
  quote_amount bigint not null check (quote_amount > 0),
  fee_amount bigint not null check (fee_amount >= 0 and fee_amount < quote_amount),
  redeem_window_seconds integer not null,
  quote_token text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- What settlement last said of this quote. A settlement's facts repeat and overtake one another, so only a
  -- later settlement, or a further step of the same one, is taken over.
  settlement_id text collate "C",
  settlement_step smallint check (settlement_step between 1 and 3),
  -- When settlement is asked what became of a quote whose facts may have been lost with NATS; null:
  -- nothing more can come. While it is being settled once a minute, otherwise once, after it can no
  -- longer be paid.
  ask_at timestamptz,
  check ((settlement_id is null) = (settlement_step is null))
);
create index quotes_by_service on quotes (service_id, quote_id desc);
create index quotes_by_account on quotes (account_id, quote_id desc);
create index quotes_to_ask on quotes (ask_at) where ask_at is not null;

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
