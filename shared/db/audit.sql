-- What operators did, in every service's schema beside what they changed. Made by the database's
-- owner: the service's role may add to it and read it, and has no right to change or delete what is
-- there (docs/adr/0018).
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
