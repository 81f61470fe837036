-- Up Migration
-- From when on the sweep may publish a row: after the fast path has had its chance, and again when the lease of the
-- sweep that claimed it is over.
alter table outbox add column next_at timestamptz not null default app_now() + interval '2 seconds';
