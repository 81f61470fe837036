-- Up Migration In every service's schema: events and jobs to publish, committed with the change
-- that they report.
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
