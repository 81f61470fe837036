-- Distributes the tables of settlement in a cluster of Citus, after the migrations, on the
-- coordinator, with settlement's schema as the search path (docs/adr/0090-citus.md). Empty lines
-- separate statements. What is not named here stays on the coordinator.

-- A foreign key between distributed tables needs the same distribution, and none may lead to a
-- table of the coordinator. What they say is part of the statements that insert the rows.
do $$
declare
  one record;
begin
  for one in
    select conrelid::regclass as referring, conname from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace
  loop
    execute format('alter table %s drop constraint %I', one.referring, one.conname);
  end loop;
end $$;

-- A unique key of a distributed table has the column by which it is distributed.
alter table extensions drop constraint extensions_pkey, add primary key (settlement_id, extension_id);

-- A settlement with everything that is about it alone is on one node.
select create_distributed_table('settlements', 'settlement_id');

select create_distributed_table(name, 'settlement_id', colocate_with => 'settlements')
from unnest(array['authorizations', 'consumptions', 'consumption_sums', 'uses', 'use_sums', 'extensions', 'incoming_payments',
  'outgoing_payments', 'outgoing_payees']) as name;

-- A key is on the node of its value, so it is unique over all nodes. It is claimed in the commit of
-- its settlement, which may be on another node: Citus commits both in two phases.
select create_distributed_table('settlement_keys', 'key', colocate_with => 'none');

select create_distributed_table('refund_reservations', 'refund_id', colocate_with => 'none');

-- Read by statements of all nodes, written by a restore.
select create_reference_table('restores');

-- Citus refuses a stable function in an expression of a change that could differ by node. This one
-- is evaluated once, when the statement is planned, and each execution plans it again.
alter function public.app_now() immutable;

do $$
declare
  service text := current_database() || '_settlement';
begin
  execute format('alter role %I in database %I set plan_cache_mode = force_custom_plan', service, current_database());
  -- Citus names the next value of an identity column, which then needs the right to it.
  execute format('grant usage on all sequences in schema %I to %I', current_schema(), service);
end $$;
