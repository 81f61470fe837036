import { afterAll, expect, test } from '@jest/globals';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { sections } from '../../tools/ops/runbook.ts';
import { waitFor } from '../support/base/wait.ts';
import { doorAt, opsAt } from '../support/packages/ops.ts';
import { scrape } from '../support/servers/scrape.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Runs the commands of docs/runbook.md. */
const stack = runningStack();
const runOps = (words: readonly string[]) => doorAt('ops', process.env.STACK_FILE!)(...words);
const database = connectDatabases(stack.postgres_urls, { max: 2 });
afterAll(() => database.end());

/** Real values of what the first lines of the sections leave open. */
const values = async (): Promise<Readonly<Record<string, string>>> => {
  const api = createApi(stack.gateway_url);
  const [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  return { id: paid.tx_hash, account: consumer.signIn.account.email, ticket: 'ticket 1042' };
};

/** What a command may end with besides 0, as its help says. */
const MAY_END_WITH: Readonly<Record<string, string>> = {
  backups: 'no copy is known here',
  reconcile: 'other tests move money that no record has',
};

test('the first command of each section runs as it is written, without another tool', async () => {
  const given = await values();
  const lines = new Set(sections.flatMap(({ command }) => (command === null ? [] : [command])));
  const ends = await Promise.all(
    [...lines].map(async (line) => {
      const words = line.split(' ').map((word) => given[/^<(\w+)>$/.exec(word)?.[1] ?? ''] ?? word);
      const { code, out, err } = await runOps(words);
      return { line, code, out: out.trim() === '' ? 'nothing' : 'an answer', err };
    }),
  );
  expect(lines.size).toBeGreaterThan(12);
  expect(
    ends.filter(
      ({ line, code }) => !(code === 0 || (code === 1 && MAY_END_WITH[line.split(' ')[0]!] !== undefined)),
    ),
  ).toEqual([]);
  expect(ends.filter(({ out }) => out === 'nothing')).toEqual([]);
});

/** Repeats the query for half a minute. */
const until = <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> =>
  waitFor(read, good, 30_000, 100);

test('a quarantined event is in the metrics, takes effect after a retry, and the alarm ends after the decision', async () => {
  const consumer = await createConsumer(createApi(stack.gateway_url), stack);
  const fundOf = async () =>
    (
      await database.query<{ fund_id: string; status: string; tx_hash: string }>(
        'select fund_id, status, tx_hash from funding.dev_funds where wallet_id = $1',
        [consumer.walletId],
      )
    ).rows[0]!;
  const { fund_id, tx_hash } = await until(fundOf, ({ status }) => status === 'finalized');

  // As if the subscriber had not recognised the outcome.
  await database.query("update funding.dev_funds set status = 'confirmed' where fund_id = $1", [fund_id]);
  const event = { object_id: fund_id, status: 'finalized', generation: 1, tx_hash, slot: 1, failure: null };
  const { rows } = await database.query<{ quarantine_id: string }>(
    `insert into funding.quarantine (subject, body, reason)
     values ('evt.chain-submitter.fundProgressed', convert_to($1, 'UTF8'), 'test') returning quarantine_id`,
    [JSON.stringify(event)],
  );
  const quarantined = async () =>
    (await scrape(stack.metrics.funding!)).value('quittance_quarantine_messages');
  expect(await quarantined()).toBe(1);

  const id = rows[0]!.quarantine_id;
  const ops = opsAt(process.env.STACK_FILE!);
  expect(JSON.parse((await ops('quarantine', 'show', 'funding', id, '--json')).out)).toMatchObject({
    subject: 'evt.chain-submitter.fundProgressed',
    body: JSON.stringify(event),
  });
  const decided = await ops('quarantine', 'decide', 'funding', id, 'retry', '--reason', 'read now', '--yes');
  expect(decided).toMatchObject({ code: 0, out: expect.stringContaining('Decided: retry') });
  expect((await fundOf()).status).toBe('finalized');
  expect(await quarantined()).toBe(0);
});
