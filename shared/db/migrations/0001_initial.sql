-- In every service's schema: events and jobs to publish, committed with the change that they
-- report.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  subject text not null,
  msg_id text not null,
  payload jsonb not null,
  traceparent text,
  created_at timestamptz not null default app_now(),
  -- When the sweep may publish a row: after the fast path had time to publish it, and again when
  -- the lease of the sweep that claimed it has ended.
  next_at timestamptz not null default app_now() + interval '2 seconds'
);

-- Messages that could not be parsed. They wait for an operator's decision and are not delivered
-- again.
create table quarantine (
  quarantine_id bigint generated always as identity primary key,
  subject text not null,
  body bytea not null,
  reason text not null,
  -- The build that could not parse it, last. Another one tries. Null: it was parsed, and
  -- contradicts the records.
  unreadable_by text,
  created_at timestamptz not null default app_now(),
  decided_at timestamptz,
  decision text
);
-- For the gauges that are read at every scrape: decided rows stay in the table and must not be
-- scanned.
create index quarantine_undecided on quarantine (created_at) where decided_at is null;

-- Events that were published, for as long as the stream keeps them. A service that may have missed
-- some reads them here (shared/events/catch-up.ts), so the stream may lose everything.
create table sent_events (
  sent_id bigint generated always as identity primary key,
  subject text not null,
  -- Of several events of one subject, a list.
  payloads jsonb not null,
  sent_at timestamptz not null default app_now()
);
create index sent_events_by_time on sent_events (sent_at);

-- How far this service has read the stream of events.
create table stream_position (
  only_row boolean primary key default true check (only_row),
  -- Of the stream, as the server writes it. Another time is another stream, so the server has lost
  -- its data.
  stream_created_at text not null,
  -- Everything up to this message is handled, which was the newest one at this time.
  seq bigint not null,
  at timestamptz not null,
  -- Messages were lost: since when, and until when sent events are read again.
  missed_since timestamptz,
  read_until timestamptz,
  check (num_nulls(missed_since, read_until) in (0, 2))
);

-- The actions of operators, in the schema of the service that they changed. The table belongs to
-- the migrating user. The service's role may insert and read rows, but not change or delete them
-- (docs/adr/0018, docs/adr/0064).
create table operator_actions (
  action_id bigint primary key,
  at timestamptz not null default app_now(),
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null,
  -- Each row has the hash of the row before it, and a hash of its own content with that one. A row
  -- that is changed, removed or inserted later breaks the chain.
  previous_hash bytea not null,
  hash bytea not null
);

create function operator_action_hash(action operator_actions) returns bytea
language sql stable set search_path from current as $$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$$;

create function chain_operator_action() returns trigger
language plpgsql set search_path from current as $$
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
$$;

create trigger chain_operator_action before insert on operator_actions
  for each row execute function chain_operator_action();
