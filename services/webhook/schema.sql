-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table deliveries (
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  status text default 'pending'::text not null,
  tries smallint default 0 not null,
  attempts jsonb default '[]'::jsonb not null,
  next_attempt_at timestamp with time zone default app_now(),
  leased_until timestamp with time zone,
  created_at timestamp with time zone default app_now() not null,
  constraint deliveries_pkey PRIMARY KEY (endpoint_id, event_id),
  constraint deliveries_check CHECK ((status = 'pending'::text) = (next_attempt_at IS NOT NULL)),
  constraint deliveries_status_check CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])),
  constraint deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints(endpoint_id) ON DELETE CASCADE,
  constraint deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(event_id) ON DELETE CASCADE
);
CREATE INDEX deliveries_by_event ON deliveries USING btree (event_id);
CREATE INDEX deliveries_due ON deliveries USING btree (endpoint_id, next_attempt_at) WHERE (status = 'pending'::text);

create table endpoints (
  endpoint_id text collate "C" not null,
  account_id text collate "C" not null,
  url text not null,
  description text,
  event_types text[] not null,
  disabled_reason text,
  failing_since timestamp with time zone,
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamp with time zone,
  created_at timestamp with time zone default app_now() not null,
  constraint endpoints_pkey PRIMARY KEY (endpoint_id),
  constraint endpoints_check CHECK ((previous_secret IS NULL) = (previous_secret_expires_at IS NULL)),
  constraint endpoints_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['owner'::text, 'failing'::text, 'gone'::text]))
);
CREATE INDEX endpoints_by_account ON endpoints USING btree (account_id, endpoint_id DESC);
CREATE INDEX endpoints_failing ON endpoints USING btree (failing_since) WHERE (failing_since IS NOT NULL);

create table events (
  event_id text collate "C" not null,
  type text not null,
  object_id text not null,
  data jsonb not null,
  account_id text collate "C" not null,
  own jsonb not null,
  other_account_id text collate "C",
  other_own jsonb,
  event_hash uuid not null,
  created_at timestamp with time zone default app_now() not null,
  constraint events_pkey PRIMARY KEY (event_id),
  constraint events_check CHECK (num_nulls(other_account_id, other_own) = ANY (ARRAY[0, 2])),
  constraint events_check1 CHECK (other_account_id <> account_id)
);
CREATE INDEX events_by_account ON events USING btree (account_id, event_id DESC);
CREATE UNIQUE INDEX events_by_object ON events USING btree (object_id, event_hash);
CREATE INDEX events_by_other_account ON events USING btree (other_account_id, event_id DESC) WHERE (other_account_id IS NOT NULL);

create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  object_id text collate "C",
  answer json,
  leased_until timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, operation, key_hash),
  constraint idempotency_check CHECK (object_id IS NOT NULL OR answer IS NOT NULL)
);
CREATE INDEX idempotency_by_age ON idempotency USING btree (created_at);
