-- When this database was compared with the records of chain-submitter last, which compares its own
-- with the chain (services/settlement/record/check-records.ts).
create table record_checks (
  only_row boolean primary key default true check (only_row),
  checked_at timestamptz not null,
  -- When the server of the database had started. Another start may be that of a restored copy.
  checked_start timestamptz not null
);

-- What was found, if it was not an operator who recorded the restore: the id of chain-submitter's
-- row, `unchecked` for a server that has started and is not compared yet.
alter table restores add column found_by text collate "C";
