-- What the jobs `backup` and `drill` have done (shared/backup/runs.ts). They write it as the owner
-- of the database, and settlement only reads it.
create table backup_runs (
  run_id bigint generated always as identity primary key,
  -- `backup`: a copy was written. `drill`: the newest copy was restored into a scratch database.
  kind text not null check (kind in ('backup', 'drill')),
  ok boolean not null,
  -- The name of the copy; null if there was none.
  copy text collate "C",
  -- The moment of its content.
  taken_at timestamptz,
  rows bigint check (rows >= 0),
  seconds double precision not null check (seconds >= 0),
  -- What was wrong; null if nothing was.
  problem text,
  finished_at timestamptz not null default app_now()
);
create index backup_runs_by_kind on backup_runs (kind, finished_at);
