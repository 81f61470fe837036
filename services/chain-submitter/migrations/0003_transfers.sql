-- Up Migration
-- Withdrawals and refunds: prepared and submitted as delegations are, so both live in one table. What differs
-- between them is the request, which is also what the intent is told.
alter table intents drop constraint intents_kind_check, add constraint intents_kind_check
  check (kind in ('settle', 'fund', 'createTokenAccount', 'delegation', 'withdrawal', 'refund'));

alter table preparations
  add column kind text not null default 'delegation' check (kind in ('delegation', 'withdrawal', 'refund')),
  add column request jsonb;
update preparations set request = jsonb_build_object('preparation_id', preparation_id, 'account_id', account_id,
  'owner', owner, 'authority', authority, 'allowance', allowance::text);
alter table preparations
  alter column kind drop default,
  alter column request set not null,
  drop column token_account,
  drop column authority,
  drop column allowance,
  -- The owner whose token account the transaction creates at our cost.
  alter column creates type text collate "C" using case when creates then owner end,
  alter column creates drop not null,
  drop constraint preparations_status_check,
  -- cancelled: nothing of it is ever co-signed.
  add constraint preparations_status_check check (status in ('open', 'replaced', 'submitted', 'cancelled'));
drop index preparations_one_open;
-- At most one delegation per wallet can still be co-signed. A withdrawal or refund is one row under its own id, which a
-- new preparation overwrites.
create unique index preparations_one_open on preparations (owner) where status = 'open' and kind = 'delegation';
