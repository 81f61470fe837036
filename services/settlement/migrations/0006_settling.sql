-- Up Migration
-- Since when the operators take no new payment in this environment (docs/adr/0018); null while they do. One row.
create table settling (
  only_row boolean primary key default true check (only_row),
  paused_at timestamptz
);
insert into settling default values;
