-- Up Migration
-- Before a quote is paid whose earlier attempt failed, every provider is asked whether it was paid after all. Only failed
-- attempts are in the index, so that a payment that succeeds writes nothing to it.
create index intents_failed_by_quote on intents using hash ((request ->> 'quote_token'))
  where kind = 'settle' and status = 'failed';
