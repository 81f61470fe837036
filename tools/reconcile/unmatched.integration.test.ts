import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectDatabases, type EveryDatabase } from '../../deploy/local/servers/every-database.ts';
import { oneDatabase } from '../../shared/db/databases.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { unmatchedIn } from './unmatched.ts';

let database: TestDatabase;
let all: EveryDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  all = connectDatabases(oneDatabase(database.adminUrl), { max: 1 });
});
afterAll(async () => {
  await all?.end();
  await database?.drop();
});

const unmatched = () => unmatchedIn(async (text) => (await all.query(text)).rows);

/** Work of chain-submitter, and the transaction that carried it out. */
const sign = async (kind: string, id: string, signature: string) => {
  await all.query(
    `insert into chain_submitter.intents (intent_id, kind, object_id, request, status, next_at)
     values ($1 || ':' || $2, $1, $2, '{}', 'finalized', now())`,
    [kind, id],
  );
  await all.query(
    `insert into chain_submitter.transactions (signature, intent_id, generation, wire, last_valid_block_height)
     values ($3, $1 || ':' || $2, 1, '', 1)`,
    [kind, id, signature],
  );
};
const pay = async (id: string, signature: string) => {
  await all.query(
    `insert into settlement.payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot)
     values ('w', 'a', 'owner', 'authority', 0, 0, 1) on conflict do nothing`,
  );
  await all.query(
    `insert into settlement.settlements (settlement_id, account_id, payment_attempt_id, wallet_id, quote_id, quote_token,
       vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, status, chain_status, tx_hash,
       under_way_since, expires_from, settlement_token, issued_at)
     values ($1, 'a', $1, 'w', $1, '', 'v', gen_random_uuid(), 10, 1, 900, 'issued', 'finalized', $2, null,
       public.app_now(), '', public.app_now())`,
    [id, signature],
  );
};

test('what one service has and another lacks is named, whichever of the two was restored', async () => {
  await sign('settle', 'both', 'signature of both');
  await pay('both', 'signature of both');
  expect(await unmatched()).toEqual([]);

  await sign('settle', 'signed', 'signature of signed');
  await sign('refund', 'returned', 'signature of returned');
  await pay('paid', 'signature of paid');
  expect(await unmatched()).toEqual([
    { lacks: 'settlement', what: 'the settle signed, which is finalized' },
    { lacks: 'funding', what: 'the refund returned, which is finalized' },
    { lacks: 'chain-submitter', what: 'the transaction signature of paid of paid, which is finalized' },
  ]);
});
