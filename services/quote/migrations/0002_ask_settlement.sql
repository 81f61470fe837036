-- Up Migration
-- When settlement is asked what became of a quote whose facts may have been lost with NATS; null: nothing more can come.
-- While it is being settled once a minute, otherwise once, after it can no longer be paid.
alter table quotes add column ask_at timestamptz;
update quotes set ask_at = case settlement_step when 1 then app_now() else expires_at + interval '5 minutes' end
where settlement_step is distinct from 3;
create index quotes_to_ask on quotes (ask_at) where ask_at is not null;
