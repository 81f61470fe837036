-- Up Migration
-- In every service's schema: facts and jobs to publish, committed together with what they tell.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  subject text not null,
  msg_id text not null,
  payload jsonb not null,
  traceparent text,
  created_at timestamptz not null default app_now(),
  -- From when on the sweep may publish a row: after the fast path has had its chance, and again
  -- when the lease of the sweep that claimed it is over.
  next_at timestamptz not null default app_now() + interval '2 seconds'
);

-- Messages that could not be parsed: kept for a person, never delivered again.
create table quarantine (
  quarantine_id bigint generated always as identity primary key,
  subject text not null,
  body bytea not null,
  reason text not null,
  created_at timestamptz not null default app_now(),
  decided_at timestamptz,
  decision text
);
-- Read at every scrape of the metrics: rows that were decided stay for the record and must not be
-- walked through.
create index quarantine_undecided on quarantine (created_at) where decided_at is null;
