-- Up Migration
-- Payments that were told of: each is counted and mailed once, however often its fact comes (store/payments.ts).
create table payments (
  settlement_id text collate "C" primary key,
  issued_at timestamptz not null
);
create index payments_by_time on payments (issued_at);

-- What an account has spent in a UTC day.
create table spending_days (
  account_id text collate "C" not null references accounts,
  day date not null,
  spent bigint not null check (spent > 0),
  -- When the owner was last alerted, and that more than this was spent: a threshold up to it is no news any more.
  alerted_at timestamptz,
  alerted_threshold bigint,
  primary key (account_id, day),
  check ((alerted_at is null) = (alerted_threshold is null))
);
create index spending_days_by_day on spending_days (day);

-- Mails that somebody waits for, those with a link, go before all others (store/mails.ts).
create index mails_in_order on mails ((link_id is null), next_attempt_at);
drop index mails_by_attempt;
