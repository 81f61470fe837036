-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  object_id text collate "C",
  answer json,
  leased_until timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, operation, key_hash),
  constraint idempotency_check CHECK (object_id IS NOT NULL OR answer IS NOT NULL)
);
CREATE INDEX idempotency_by_age ON idempotency USING btree (created_at);

create table payment_links (
  payment_link_id text collate "C" not null,
  account_id text collate "C" not null,
  service_id uuid not null,
  title text not null,
  quote_amount bigint not null,
  quote_id text collate "C",
  success_url text,
  created_at timestamp with time zone not null,
  deactivated_at timestamp with time zone,
  constraint payment_links_pkey PRIMARY KEY (payment_link_id),
  constraint payment_links_quote_amount_check CHECK (quote_amount > 0)
);
CREATE INDEX payment_links_by_account ON payment_links USING btree (account_id, payment_link_id DESC);
CREATE INDEX payment_links_by_service ON payment_links USING btree (service_id, payment_link_id DESC);

create table quotes (
  quote_id text collate "C" not null,
  account_id text collate "C" not null,
  service_id uuid not null,
  quote_amount bigint not null,
  fee_amount bigint not null,
  redeem_window_seconds integer not null,
  quote_token bytea not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  settlement_id text collate "C",
  settlement_state smallint,
  query_at timestamp with time zone,
  payment_link_id text collate "C",
  redeem_at timestamp with time zone,
  constraint quotes_pkey PRIMARY KEY (quote_id),
  constraint quotes_check CHECK (fee_amount >= 0 AND fee_amount < quote_amount),
  constraint quotes_check1 CHECK ((settlement_id IS NULL) = (settlement_state IS NULL)),
  constraint quotes_quote_amount_check CHECK (quote_amount > 0),
  constraint quotes_settlement_state_check CHECK (settlement_state >= 1 AND settlement_state <= 3),
  constraint quotes_payment_link_id_fkey FOREIGN KEY (payment_link_id) REFERENCES payment_links(payment_link_id)
);
CREATE INDEX quotes_by_account ON quotes USING btree (account_id, quote_id DESC);
CREATE INDEX quotes_by_service ON quotes USING btree (service_id, quote_id DESC);
CREATE INDEX quotes_paid_by_link ON quotes USING btree (payment_link_id) WHERE ((payment_link_id IS NOT NULL) AND (settlement_state = 3));
CREATE INDEX quotes_to_query ON quotes USING btree (query_at) WHERE (query_at IS NOT NULL);
CREATE INDEX quotes_to_redeem ON quotes USING btree (redeem_at) WHERE (redeem_at IS NOT NULL);
