-- no transaction
-- What waits for its owner's signature, of which `signing show` names the fee payers.
create index concurrently if not exists preparations_open on preparations (expires_at) where status = 'open';
