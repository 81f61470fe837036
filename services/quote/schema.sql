-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.

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

create table operator_actions (
  action_id bigint not null,
  at timestamp with time zone default app_now() not null,
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null,
  previous_hash bytea not null,
  hash bytea not null,
  constraint operator_actions_pkey PRIMARY KEY (action_id)
);
CREATE TRIGGER chain_operator_action BEFORE INSERT ON operator_actions FOR EACH ROW EXECUTE FUNCTION chain_operator_action();

create table outbox (
  outbox_id bigint generated always as identity not null,
  subject text not null,
  msg_id text not null,
  payload jsonb not null,
  traceparent text,
  created_at timestamp with time zone default app_now() not null,
  next_at timestamp with time zone default (app_now() + '00:00:02'::interval) not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id)
);

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

create table quarantine (
  quarantine_id bigint generated always as identity not null,
  subject text not null,
  body bytea not null,
  reason text not null,
  created_at timestamp with time zone default app_now() not null,
  decided_at timestamp with time zone,
  decision text,
  constraint quarantine_pkey PRIMARY KEY (quarantine_id)
);
CREATE INDEX quarantine_undecided ON quarantine USING btree (created_at) WHERE (decided_at IS NULL);

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

CREATE OR REPLACE FUNCTION quote.chain_operator_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'quote', 'public', 'pg_temp'
AS $function$
declare
  latest operator_actions;
begin
  -- Each row follows a committed one, so two actions cannot follow the same one.
  perform pg_advisory_xact_lock(tg_relid::bigint);
  select * into latest from operator_actions order by action_id desc limit 1;
  new.action_id := coalesce(latest.action_id, 0) + 1;
  new.previous_hash := coalesce(latest.hash, '\x');
  new.hash := operator_action_hash(new);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION quote.operator_action_hash(action operator_actions)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'quote', 'public', 'pg_temp'
AS $function$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$function$;
