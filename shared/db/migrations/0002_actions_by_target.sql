-- no transaction
-- Who looked at an account, and who changed it.
create index concurrently if not exists operator_actions_by_target on operator_actions (target, action_id);
