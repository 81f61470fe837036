-- no transaction
-- The deposits that an operator has to look at, the oldest first.
create index concurrently if not exists deposits_with_problem on deposits (created_at)
  where problem_code is not null;
