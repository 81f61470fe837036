-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.

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

create table operator_actions (
  action_id bigint not null,
  at timestamp with time zone default app_now() not null,
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null,
  previous_hash bytea not null,
  hash bytea not null,
  constraint operator_actions_pkey PRIMARY KEY (action_id)
);
CREATE TRIGGER chain_operator_action BEFORE INSERT ON operator_actions FOR EACH ROW EXECUTE FUNCTION chain_operator_action();

create table outbox (
  outbox_id bigint generated always as identity not null,
  subject text not null,
  msg_id text not null,
  payload jsonb not null,
  traceparent text,
  created_at timestamp with time zone default app_now() not null,
  next_at timestamp with time zone default (app_now() + '00:00:02'::interval) not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id)
);

create table quarantine (
  quarantine_id bigint generated always as identity not null,
  subject text not null,
  body bytea not null,
  reason text not null,
  created_at timestamp with time zone default app_now() not null,
  decided_at timestamp with time zone,
  decision text,
  constraint quarantine_pkey PRIMARY KEY (quarantine_id)
);
CREATE INDEX quarantine_undecided ON quarantine USING btree (created_at) WHERE (decided_at IS NULL);

CREATE OR REPLACE FUNCTION webhook.chain_operator_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'webhook', 'public', 'pg_temp'
AS $function$
declare
  latest operator_actions;
begin
  -- Each row follows a committed one, so two actions cannot follow the same one.
  perform pg_advisory_xact_lock(tg_relid::bigint);
  select * into latest from operator_actions order by action_id desc limit 1;
  new.action_id := coalesce(latest.action_id, 0) + 1;
  new.previous_hash := coalesce(latest.hash, '\x');
  new.hash := operator_action_hash(new);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION webhook.operator_action_hash(action operator_actions)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'webhook', 'public', 'pg_temp'
AS $function$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$function$;
