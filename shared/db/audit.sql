-- The actions of operators, in the schema of the service that they changed. The database's owner
-- creates the table. The service's role may insert and read rows, but not change or delete them
-- (docs/adr/0018).
create table if not exists operator_actions (
  action_id bigint generated always as identity primary key,
  at timestamptz not null default app_now(),
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null
);
