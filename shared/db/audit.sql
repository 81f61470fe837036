-- The actions of operators, in the schema of the service that they changed. The table belongs to
-- the migrating user. The service's role may insert and read rows, but not change or delete them
-- (docs/adr/0018, docs/adr/0064).
create table if not exists operator_actions (
  action_id bigint primary key,
  at timestamptz not null default app_now(),
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null,
  -- Each row has the hash of the row before it, and a hash of its own content with that one. A row
  -- that is changed, removed or inserted later breaks the chain.
  previous_hash bytea not null,
  hash bytea not null
);

create or replace function operator_action_hash(action operator_actions) returns bytea
language sql stable set search_path from current as $$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$$;

create or replace function chain_operator_action() returns trigger
language plpgsql set search_path from current as $$
declare
  latest operator_actions;
begin
  -- Each row follows a committed one, so two actions cannot follow the same one.
  perform pg_advisory_xact_lock(tg_relid::bigint);
  select * into latest from operator_actions order by action_id desc limit 1;
  new.action_id := coalesce(latest.action_id, 0) + 1;
  new.previous_hash := coalesce(latest.hash, '\x');
  new.hash := operator_action_hash(new);
  return new;
end
$$;

create or replace trigger chain_operator_action before insert on operator_actions
  for each row execute function chain_operator_action();
