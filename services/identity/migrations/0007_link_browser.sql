-- Up Migration
-- SHA-256 of the nonce of the browser that asked for the link; null where no page of ours asked.
alter table login_links add column browser_hash text collate "C";
