-- Up Migration
-- A grant promises the rent of a token account: the lamports are reserved of a budget until the promise lapses, or
-- until the token account was created. The places stay for life.
alter table grants
  add column reserved_lamports bigint check (reserved_lamports > 0),
  -- Of which budget and of which day they were reserved, where they are released to.
  add column reserved_budget text,
  add column reserved_on timestamptz,
  add column reserved_until timestamptz,
  -- The intent whose signed bytes use the reservation: it is not released while they may land.
  add column reserved_by text collate "C",
  add constraint grants_reservation check (reserved_lamports is null or (
    reserved_budget is not null and reserved_on is not null and reserved_until is not null));
create index grants_reserved on grants (reserved_until) where reserved_lamports is not null;

-- The platform pays for each address once: while a creation may land, and once it has landed, no other is committed,
-- however many were prepared or planned. The bytes that are proven dead leave the index.
create unique index transactions_one_creation on transactions (creates) where status = 'live' and creates is not null;

-- The account whose budget pays for the co-signature, where it is not the account of the grant: of a refund it is the
-- vendor's.
alter table preparations add column budget_account_id text collate "C";

create index preparations_creating on preparations (creates) where status = 'open' and creates is not null;

-- Each settlement has paid for the co-signature of one refund when it was signed. This one has used it.
create table refund_cosignatures (
  settlement_id text collate "C" primary key,
  refund_id text collate "C" not null,
  created_at timestamptz not null default app_now()
);

-- Accounts that may have more co-signed a day than the others.
create table cosigning_factors (
  account_id text collate "C" primary key,
  factor smallint not null check (factor between 2 and 1000)
);
