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
  created_at timestamptz not null default app_now(),
  decided_at timestamptz,
  decision text
);
-- For the gauges that are read at every scrape: decided rows stay in the table and must not be
-- scanned.
create index quarantine_undecided on quarantine (created_at) where decided_at is null;
