import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { connectPool, type Pool, sql } from '../db/pool.ts';
import type { Message } from './event.ts';
import { eventList, payloadsOf } from './event-list.ts';
import { insertEventLists, insertedColumn, insertedRows, outboxRow, publishMatching } from './outbox.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ISSUED = 'evt.settlement.issued';
const FINALIZED = 'evt.settlement.finalized';
const JOB = 'job.chain-submitter.settle';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('settlement'), { max: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const message = (subject: string, id: string, more: Partial<Message> = {}): Message => ({
  subject,
  msgId: `${subject}:${id}`,
  payload: { settlement_id: id, delegate_id: null },
  ...more,
});

/** Publishes the messages whose settlement is known, as the statements of settlement do. */
const publishKnown = async (messages: readonly Message[], known: readonly string[]) => {
  const Published = z.object({ settlement_id: z.string(), outbox: insertedColumn });
  const rows = await pool.any(sql.type(Published)`
    with known as (select * from unnest(${sql.array([...known], 'text')}) as id), ${publishMatching(
      messages,
      'settlement_id',
      sql.fragment`join known on known.id = message.payload ->> 'settlement_id'`,
    )}
    select settlement_id, outbox from published`);
  return rows.flatMap(({ settlement_id, outbox }) =>
    insertedRows(messages, outbox).map((row) => ({ settlement_id, row })),
  );
};

const storedRows = async (ids: readonly bigint[]) =>
  pool.any(sql.type(outboxRow)`
    select outbox_id, subject, msg_id, payload, traceparent from outbox
    where outbox_id = any(${sql.array([...ids], 'int8')}) order by outbox_id`);

test('the events of one subject share a row, a job has its own, and the caller has what is stored', async () => {
  const messages = [
    message(ISSUED, 'a', { traceparent: TRACEPARENT }),
    message(JOB, 'a'),
    message(ISSUED, 'b'),
    message(JOB, 'b'),
    message(ISSUED, 'unknown'),
    message(FINALIZED, 'b', { traceparent: TRACEPARENT }),
  ];
  const published = await publishKnown(messages, ['a', 'b']);
  const rows = published
    .map(({ row }) => row)
    .sort((one, other) => (one.outbox_id < other.outbox_id ? -1 : 1));
  expect(await storedRows(rows.map(({ outbox_id }) => outbox_id))).toEqual(rows);
  const bySubject = (subject: string) => rows.filter((row) => row.subject === subject);
  expect(bySubject(ISSUED)).toMatchObject([
    {
      msg_id: `${ISSUED}:a+1`,
      payload: [
        { payload: { settlement_id: 'a', delegate_id: null }, traceparent: TRACEPARENT },
        { payload: { settlement_id: 'b', delegate_id: null } },
      ],
      traceparent: null,
    },
  ]);
  expect(bySubject(JOB).map(({ msg_id }) => msg_id)).toEqual([`${JOB}:a`, `${JOB}:b`]);
  expect(bySubject(FINALIZED)).toMatchObject([
    { msg_id: `${FINALIZED}:b`, payload: { settlement_id: 'b' }, traceparent: TRACEPARENT },
  ]);
  // Exactly one call dispatches a row that several share.
  expect(published.filter(({ row }) => row.subject === ISSUED).map((each) => each.settlement_id)).toEqual([
    'a',
  ]);
});

test('a row has at most 50 events, and none is lost', async () => {
  const ids = Array.from({ length: 120 }, (_, index) => `stl_${index}`);
  const published = await publishKnown(
    ids.map((id) => message(ISSUED, id)),
    ids,
  );
  const rows = published.map(({ row }) => row);
  expect(rows.map(({ payload }) => (payload as unknown[]).length).sort()).toEqual([20, 50, 50]);
  const bytes = Buffer.from(JSON.stringify(eventList(rows)));
  const received = payloadsOf(bytes, undefined).map(({ payload }) => payload as { settlement_id: string });
  expect(received).toHaveLength(ids.length);
  expect(new Set(received.map(({ settlement_id }) => settlement_id))).toEqual(new Set(ids));
});

test('rows that a statement changed publish their events as a list', async () => {
  const inserted = await pool.any(
    sql.type(outboxRow)`${insertEventLists(sql.fragment`
    select position, subject, subject || position as msg_id, jsonb_build_object('n', position) as payload,
      null::text as traceparent
    from unnest(${sql.array([1, 2, 3], 'int4')}) as position,
      unnest(${sql.array([ISSUED, FINALIZED], 'text')}) as subject where position < 3 or subject = ${ISSUED}`)}`,
  );
  expect(new Map(inserted.map(({ subject, payload }) => [subject, payload]))).toEqual(
    new Map([
      [ISSUED, [1, 2, 3].map((n) => ({ payload: { n } }))],
      [FINALIZED, [1, 2].map((n) => ({ payload: { n } }))],
    ]),
  );
});
