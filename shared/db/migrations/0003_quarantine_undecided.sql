-- Up Migration
-- Read at every scrape of the metrics: rows that were decided stay for the record and must not be walked through.
create index quarantine_undecided on quarantine (created_at) where decided_at is null;
