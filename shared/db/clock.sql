-- The clock of all SQL (docs/design/settle.md, Time). The offset table exists only if a test
-- created it.
create or replace function public.app_now() returns timestamptz
language plpgsql stable as $$
declare
  shift interval;
begin
  if to_regclass('public.clock_offset') is null then
    return now();
  end if;
  execute 'select shift from public.clock_offset limit 1' into shift;
  return now() + coalesce(shift, interval '0');
end
$$;
