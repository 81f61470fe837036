-- A worker renews its registration every second. Its leases lapse a few seconds after it stopped.
-- One row for each worker replaces a renewal for each intent and second.
create table workers (
  worker_id text collate "C" primary key,
  alive_until timestamptz not null
);

-- While `paused` is true, nothing is signed.
create table settings (
  only_row boolean primary key default true check (only_row),
  paused boolean not null default false
);
insert into settings default values;

-- One row for each job or submission, never deleted. The key makes repeated jobs harmless
-- (docs/design/settle.md, rule 6).
create table intents (
  -- settle:<account>:<payment_attempt_id> | fund:<id> | tokenAccount:<wallet_id> |
  -- delegation:<preparation_id>
  -- | withdrawal:<id> | refund:<id> | incoming:<message hash> | out:<account>:<payment_attempt_id>
  intent_id text collate "C" primary key,
  kind text not null check (kind in
    ('settle', 'fund', 'createTokenAccount', 'delegation', 'withdrawal', 'refund', 'incoming', 'outgoing')),
  object_id text collate "C" not null,
  -- The job as it was received. A settle's amounts are read from its quote token at every use. Once
  -- it is final, the request has a hash of the token instead (ledger/store/final-request.ts).
  request jsonb not null,
  status text not null check (status in ('accepted', 'signed', 'confirmed', 'finalized', 'failed', 'reopened')),
  generation integer not null default 0,
  -- Of the newest transaction that was signed or adopted.
  signature text collate "C",
  slot bigint,
  failure_code text check (failure_code in ('insufficient_funds', 'delegation_inactive', 'payment_failed')),
  failure_message text,
  traceparent text,
  -- The lease: the worker that holds it, and when the sweeper may claim an intent without a lease.
  worker_id text collate "C",
  next_at timestamptz not null,
  created_at timestamptz not null default app_now(),
  progressed_at timestamptz not null default app_now(),
  check ((status = 'failed') = (failure_code is not null))
);
create index intents_open on intents (next_at) where status in ('accepted', 'signed', 'confirmed', 'reopened');
-- Before a quote is paid whose earlier attempt failed, every provider is queried for its payment.
-- Only failed attempts are indexed, so a payment that succeeds does not write to the index.
create index intents_failed_by_quote on intents using hash ((request ->> 'quote_token'))
  where kind = 'settle' and status = 'failed';
-- Sources whose transactions failed on chain, at our cost.
create index intents_incoming_failed on intents ((request ->> 'source_account'), created_at)
  where kind = 'incoming' and status = 'failed' and signature is not null;
-- Payments that a buyer was to sign last and did not. They are deleted.
create index intents_unsent on intents (created_at)
  where kind = 'incoming' and status = 'failed' and slot is null and jsonb_exists(request, 'signs_last');
-- Payments of other clients are held of their source's balance, until a newer balance has them.
create index intents_incoming_by_source on intents ((request ->> 'source_account'), slot)
  where kind = 'incoming' and status in ('accepted', 'signed', 'confirmed', 'finalized', 'reopened');
-- Payments of MPP under way, and what their vendors have received.
create index intents_incoming_by_vendor on intents ((request ->> 'account_id'), slot)
  where kind = 'incoming' and status in ('accepted', 'signed', 'confirmed', 'finalized', 'reopened')
    and jsonb_array_length(request -> 'legs') > 1;

-- Every transaction that was signed, committed before it is sent (rule 8), and every adopted one.
create table transactions (
  signature text collate "C" not null,
  intent_id text collate "C" not null references intents,
  generation integer not null,
  -- Empty of an adopted transaction, and once its intent is final.
  wire bytea not null,
  last_valid_block_height bigint not null,
  -- live: it may be included, or it is. The other states are proven never to move money.
  status text not null default 'live' check (status in ('live', 'expired', 'failed')),
  -- The owner whose token account it creates at the platform's cost.
  creates text collate "C",
  signed_at timestamptz not null default app_now(),
  -- An outgoing payment to a vendor of this deployment is one transaction of two intents: the
  -- payer's and the vendor's.
  primary key (signature, intent_id),
  unique (intent_id, generation)
)
-- The row without its bytes fits in the free space, so that finality writes no index.
with (fillfactor = 90);
-- Rule 9. The index also refuses the commit of a worker that was paused and wakes late.
create unique index transactions_one_live on transactions (intent_id) where status = 'live';
-- The platform pays for each address once. While a creation may be included, and once it is, no
-- other creation is committed, however many were prepared or planned. Expired and failed bytes
-- leave the index.
create unique index transactions_one_creation on transactions (creates) where status = 'live' and creates is not null;

-- Messages of outgoing payments, committed before the payer gets them. They are signed by the
-- delegate authority only, so their transactions are unknown until the vendor's fee payer signs.
create table outgoing_messages (
  intent_id text collate "C" primary key references intents,
  -- SHA-256 in hexadecimal. It decides whether a transaction of the source is the payment.
  message_hash text collate "C" not null unique,
  -- With an empty signature of the fee payer.
  wire bytea not null,
  last_valid_block_height bigint not null,
  signed_at timestamptz not null default app_now()
);

-- Transactions that a wallet's owner has to sign. The kinds differ in the request, which becomes
-- the request of the intent.
create table preparations (
  preparation_id text collate "C" primary key,
  kind text not null check (kind in ('delegation', 'withdrawal', 'refund')),
  account_id text collate "C" not null,
  -- The account whose budget pays for the co-signature, if it is not the account of the grant. For
  -- a refund it is the vendor's account.
  budget_account_id text collate "C",
  owner text collate "C" not null,
  request jsonb not null,
  message bytea not null,
  -- The owner whose token account the transaction creates at the platform's cost.
  creates text collate "C",
  last_valid_block_height bigint not null,
  expires_at timestamptz not null,
  -- cancelled: it is never co-signed.
  status text not null default 'open' check (status in ('open', 'replaced', 'submitted', 'cancelled')),
  submitted_message bytea,
  signature text collate "C",
  created_at timestamptz not null default app_now(),
  check ((status = 'submitted') = (signature is not null))
);
-- At most one delegation for each wallet can be co-signed. A withdrawal or refund is one row under
-- its own id, which a new preparation overwrites.
create unique index preparations_one_open on preparations (owner) where status = 'open' and kind = 'delegation';
create index preparations_creating on preparations (creates) where status = 'open' and creates is not null;

-- Token accounts that the platform pays for: at most three for each account in its lifetime, and
-- each address once. A grant promises the rent of one. The lamports are reserved of a budget until
-- the promise lapses or the token account is created. The permits are never released.
create table grants (
  account_id text collate "C" not null,
  owner text collate "C" not null,
  permit smallint not null check (permit between 1 and 3),
  -- The intent whose transaction created the account, and its slot. A read before that slot proves
  -- nothing.
  used_by text collate "C",
  used_slot bigint,
  reserved_lamports bigint check (reserved_lamports > 0),
  -- The budget and the day that they were reserved of, and to which they are released.
  reserved_budget text,
  reserved_on timestamptz,
  reserved_until timestamptz,
  -- The intent whose signed bytes use the reservation. It is not released while they may be
  -- included.
  reserved_by text collate "C",
  created_at timestamptz not null default app_now(),
  primary key (account_id, owner),
  unique (account_id, permit),
  constraint grants_reservation check (reserved_lamports is null or (
    reserved_budget is not null and reserved_on is not null and reserved_until is not null))
);
create index grants_by_owner on grants (owner);
create index grants_reserved on grants (reserved_until) where reserved_lamports is not null;

-- What is reserved of an hour's cap (micro-units) or a day's budget (lamports), by scope. Amounts
-- are reserved by a conditional update, so concurrent reservations never exceed a cap.
create table spending (
  scope text collate "C" not null,
  period timestamptz not null,
  reserved bigint not null check (reserved >= 0),
  primary key (scope, period)
);
-- The current hour is read at every scrape of the metrics, and old periods are deleted every hour.
-- Without the index both would read the rows of all wallets of two days.
create index spending_by_period on spending (period);

-- A settlement pays for the co-signature of one refund when it is signed. This refund has used it.
create table refund_cosignatures (
  settlement_id text collate "C" primary key,
  refund_id text collate "C" not null,
  created_at timestamptz not null default app_now()
);

-- Accounts with a raised daily number of co-signatures.
create table cosigning_factors (
  account_id text collate "C" primary key,
  factor smallint not null check (factor between 2 and 1000)
);
