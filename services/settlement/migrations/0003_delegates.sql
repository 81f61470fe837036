-- Up Migration
-- What delegates may spend and have: caps and counters stand beside the attempts that use them, so that a hold and its
-- attempt commit together (docs/design/settle.md, rule 4). A null cap is no cap.
create table delegates (
  delegate_id text collate "C" primary key,
  account_id text collate "C" not null,
  version integer not null check (version > 0),
  per_payment bigint check (per_payment > 0),
  daily bigint check (daily > 0),
  monthly bigint check (monthly > 0),
  total bigint check (total > 0),
  -- Null: any service.
  allowed_service_ids uuid[],
  -- The UTC day and month that the counters below are of; a settle of a later one begins them anew.
  day date not null,
  month date not null,
  day_held bigint not null default 0 check (day_held >= 0),
  day_spent bigint not null default 0 check (day_spent >= 0),
  month_held bigint not null default 0 check (month_held >= 0),
  month_spent bigint not null default 0 check (month_spent >= 0),
  total_held bigint not null default 0 check (total_held >= 0),
  total_spent bigint not null default 0 check (total_spent >= 0),
  check (month = date_trunc('month', day)::date),
  -- A day is part of its month, a month of all time.
  check (day_held + day_spent <= month_held + month_spent and month_held + month_spent <= total_held + total_spent)
);
create index delegates_by_account on delegates (account_id, delegate_id);

-- The UTC day that an attempt counts in, whenever its payment lands: the day it was accepted.
alter table settlements add column delegate_day date;
alter table settlements add constraint settlements_delegate_day check (delegate_day is null or delegate_id is not null);
create index settlements_by_delegate on settlements (account_id, delegate_id, settlement_id desc)
  where delegate_id is not null;
