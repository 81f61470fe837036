-- Up Migration
-- What was reserved of the hourly caps, per scope and hour (shared/db/budget.ts). Reserved in portions by a conditional
-- update, so no race gets past a cap.
create table spending (
  scope text collate "C" not null,
  period timestamptz not null,
  taken bigint not null check (taken >= 0),
  primary key (scope, period)
);
create index spending_by_period on spending (period);
