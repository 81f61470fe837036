-- Up Migration
-- The running hour is read at every scrape of the metrics, and old periods are dropped every hour: without it, both
-- walk through all wallets of two days.
create index spending_by_period on spending (period);
