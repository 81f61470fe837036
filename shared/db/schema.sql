-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- The part that the schema of each service has.

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
CREATE INDEX operator_actions_by_target ON operator_actions USING btree (target, action_id);
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
  unreadable_by text,
  created_at timestamp with time zone default app_now() not null,
  decided_at timestamp with time zone,
  decision text,
  constraint quarantine_pkey PRIMARY KEY (quarantine_id)
);
CREATE INDEX quarantine_undecided ON quarantine USING btree (created_at) WHERE (decided_at IS NULL);

create table sent_events (
  sent_id bigint generated always as identity not null,
  subject text not null,
  payloads jsonb not null,
  sent_at timestamp with time zone default app_now() not null,
  constraint sent_events_pkey PRIMARY KEY (sent_id)
);
CREATE INDEX sent_events_by_time ON sent_events USING btree (sent_at);

create table stream_position (
  only_row boolean default true not null,
  stream_created_at text not null,
  seq bigint not null,
  at timestamp with time zone not null,
  missed_since timestamp with time zone,
  read_until timestamp with time zone,
  constraint stream_position_pkey PRIMARY KEY (only_row),
  constraint stream_position_check CHECK (num_nulls(missed_since, read_until) = ANY (ARRAY[0, 2])),
  constraint stream_position_only_row_check CHECK (only_row)
);

CREATE OR REPLACE FUNCTION chain_operator_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '<schema>', 'public', 'pg_temp'
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

CREATE OR REPLACE FUNCTION operator_action_hash(action operator_actions)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO '<schema>', 'public', 'pg_temp'
AS $function$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$function$;
