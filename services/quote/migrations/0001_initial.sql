-- A price with a title, which a page offers to whoever has the address (docs/adr/0075).
create table payment_links (
  payment_link_id text collate "C" primary key,
  account_id text collate "C" not null,
  service_id uuid not null,
  title text not null,
  quote_amount bigint not null check (quote_amount > 0),
  -- Of a link for one payment: its one quote, which each opening signs anew, so the claim of the
  -- quote is that of the link. Null: each opening gets a quote of its own.
  quote_id text collate "C",
  success_url text,
  created_at timestamptz not null,
  deactivated_at timestamptz
);
create index payment_links_by_account on payment_links (account_id, payment_link_id desc);
create index payment_links_by_service on payment_links (service_id, payment_link_id desc);

-- Ids are TypeIDs: they sort by time under the C collation, so they are the keyset of every list.
create table quotes (
  quote_id text collate "C" primary key,
  account_id text collate "C" not null,
  service_id uuid not null,
  quote_amount bigint not null check (quote_amount > 0),
  fee_amount bigint not null check (fee_amount >= 0 and fee_amount < quote_amount),
  redeem_window_seconds integer not null,
  -- Packed (shared/lib/tokens/packed-token.ts).
  quote_token bytea not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- The last known state of the settlement that pays this quote, as its position in STORED_STATES
  -- (quotes/store.ts). Events of a settlement repeat and overtake each other, so only a later
  -- settlement, or a later state of the same one, replaces it.
  settlement_id text collate "C",
  settlement_state smallint check (settlement_state between 1 and 3),
  -- When to query settlement about a quote whose events may have been lost with NATS; null when
  -- nothing more can happen. Once a minute while the quote is being settled, otherwise once, after
  -- it can no longer be paid.
  query_at timestamptz,
  -- The payment link whose page this quote is of; null of every other quote.
  payment_link_id text collate "C" references payment_links,
  -- When to redeem the payment of a link; null when there is nothing to redeem.
  redeem_at timestamptz,
  check ((settlement_id is null) = (settlement_state is null))
);
create index quotes_by_service on quotes (service_id, quote_id desc);
create index quotes_by_account on quotes (account_id, quote_id desc);
-- 3 is issued.
create index quotes_paid_by_link on quotes (payment_link_id)
  where payment_link_id is not null and settlement_state = 3;
create index quotes_to_redeem on quotes (redeem_at) where redeem_at is not null;
create index quotes_to_query on quotes (query_at) where query_at is not null;
