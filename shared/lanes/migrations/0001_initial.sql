-- In the schema of every service whose replicas own lanes: the replicas that run. A replica whose
-- lease has ended runs no more, or does not reach the database.
create table replicas (
  replica_id text collate "C" primary key,
  -- The part of a core that it used in the last seconds.
  load real not null,
  expires_at timestamptz not null
);

-- Which replica serves the accounts of a lane. It is a preference: every statement is correct
-- whichever replica runs it.
create table lanes (
  lane integer primary key check (lane >= 0 and lane < 16),
  replica_id text collate "C",
  moved_at timestamptz not null default app_now()
);
insert into lanes (lane) select generate_series(0, 15);
