-- Up Migration
-- What was last seen of each wallet on chain, by the watcher or by somebody who asked.
create table sights (
  wallet_id text collate "C" primary key references wallets,
  token_account_exists boolean not null default false,
  -- It was there once: then, not being there now is being closed.
  token_account_seen boolean not null default false,
  balance bigint not null default 0,
  delegate text collate "C",
  allowance bigint not null default 0,
  delegation_status text not null default 'none'
    check (delegation_status in ('none', 'pending', 'active', 'exhausted', 'overwritten', 'revoked')),
  slot bigint not null default 0,
  -- Null: never seen.
  seen_at timestamptz,
  -- Something changed, or the owner asked: what is used is looked at often, what lies idle seldom.
  active_at timestamptz not null default app_now(),
  next_look_at timestamptz not null default app_now()
);
create index sights_due on sights (next_look_at);
insert into sights (wallet_id, token_account_seen)
  select wallet_id, coalesce(token_account_status in ('confirmed', 'finalized'), false) from wallets;

-- From when on payments count against what was approved; its outcome may be heard late.
alter table preparations add column submitted_at timestamptz;
update preparations set submitted_at = created_at where status <> 'new';
