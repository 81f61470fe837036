import { expect, test } from '@jest/globals';
import { hasLost, haveHandled } from './catch-up.ts';

const stream = (firstSeq: number, lastSeq: number, createdAt = 'then') => ({ createdAt, firstSeq, lastSeq });

test.each([
  { title: 'the next message is the oldest one', seq: 10, now: stream(11, 15), lost: false },
  { title: 'it still has what was handled', seq: 10, now: stream(1, 15), lost: false },
  { title: 'nothing new, and all of it is gone by its age', seq: 10, now: stream(11, 10), lost: false },
  { title: 'the next message is gone', seq: 10, now: stream(12, 15), lost: true },
  { title: 'it was purged, with what was new', seq: 10, now: stream(16, 15), lost: true },
  { title: 'its numbers begin again', seq: 10, now: stream(1, 3), lost: true },
])('a stream has lost something or not: $title', ({ seq, now, lost }) => {
  expect(hasLost({ stream_created_at: 'then', seq }, now)).toBe(lost);
});

test('another stream of the same name has lost what the first one had', () => {
  expect(hasLost({ stream_created_at: 'then', seq: 10 }, stream(1, 20, 'now'))).toBe(true);
});

test.each([
  { title: 'no consumer waits', consumers: [{ waiting: 0, handledSeq: 3 }], handled: true },
  {
    title: 'one waits for an earlier one',
    consumers: [
      { waiting: 0, handledSeq: 3 },
      { waiting: 2, handledSeq: 12 },
    ],
    handled: false,
  },
  { title: 'one waits for a later one', consumers: [{ waiting: 2, handledSeq: 20 }], handled: true },
  { title: 'there is none', consumers: [], handled: true },
])('a message is handled when every consumer is past it: $title', ({ consumers, handled }) => {
  expect(haveHandled(consumers, 20)).toBe(handled);
});
