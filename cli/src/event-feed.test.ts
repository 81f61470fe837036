import { expect, test } from '@jest/globals';
import { type AccountEvent, createEventFeed } from './event-feed.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
/** A list in pages of two that is read while it grows, as the API's is. */
const growingList = () => {
  const events: AccountEvent[] = [];
  let failsAfter = Number.POSITIVE_INFINITY;
  let calls = 0;
  let onPage = () => {};
  const add = (id: string, seconds: number) => {
    const created_at = new Date(START + seconds * 1000).toISOString();
    events.push({ event_id: id, type: 'webhook.test', object_id: 'o', created_at, data: {} });
    events.sort((a, b) => (a.event_id < b.event_id ? 1 : -1));
  };
  const list = async function* () {
    let cursor = '~';
    for (;;) {
      calls += 1;
      if (calls > failsAfter) throw new Error('no answer');
      const page = events.filter(({ event_id }) => event_id < cursor).slice(0, 2);
      yield* page;
      onPage();
      if (page.length < 2) return;
      cursor = page[1]!.event_id;
    }
  };
  return {
    add,
    list,
    failAfter: (pages: number) => {
      failsAfter = calls + pages;
    },
    whenPaged: (act: () => void) => {
      onPage = act;
    },
  };
};
const idsOf = (events: readonly AccountEvent[]) => events.map(({ event_id }) => event_id);

test('what exists at the start is not new, and later events are returned once, oldest first', async () => {
  const { add, list } = growingList();
  for (let n = 10; n < 20; n += 1) add(`e${n}`, n * 40);
  const feed = createEventFeed(list);
  expect(await feed.read()).toEqual([]);
  expect(await feed.read()).toEqual([]);
  for (let n = 20; n < 27; n += 1) add(`e${n}`, n * 40);
  expect(idsOf(await feed.read())).toEqual(['e20', 'e21', 'e22', 'e23', 'e24', 'e25', 'e26']);
  expect(await feed.read()).toEqual([]);
});

test('the first event of an account without any is new', async () => {
  const { add, list } = growingList();
  const feed = createEventFeed(list);
  expect(await feed.read()).toEqual([]);
  add('e1', 0);
  expect(idsOf(await feed.read())).toEqual(['e1']);
});

test('an event that becomes visible after a newer one is returned', async () => {
  const { add, list } = growingList();
  add('e1', 0);
  const feed = createEventFeed(list);
  await feed.read();
  add('e5', 10);
  expect(idsOf(await feed.read())).toEqual(['e5']);
  add('e3', 9);
  expect(idsOf(await feed.read())).toEqual(['e3']);
});

test('events that arrive while the pages are read are neither lost nor returned twice', async () => {
  const { add, list, whenPaged } = growingList();
  add('e10', 0);
  const feed = createEventFeed(list);
  await feed.read();
  for (let n = 11; n < 16; n += 1) add(`e${n}`, n);
  let next = 16;
  whenPaged(() => {
    if (next < 20) add(`e${next}`, next);
    next += 1;
  });
  const all = [...(await feed.read()), ...(await feed.read()), ...(await feed.read())];
  expect(idsOf(all)).toEqual(['e11', 'e12', 'e13', 'e14', 'e15', 'e16', 'e17', 'e18', 'e19']);
});

test('after an error in the middle of the pages nothing is lost', async () => {
  const { add, list, failAfter } = growingList();
  add('e10', 0);
  const feed = createEventFeed(list);
  await feed.read();
  for (let n = 11; n < 18; n += 1) add(`e${n}`, n);
  failAfter(2);
  await expect(feed.read()).rejects.toThrow('no answer');
  failAfter(100);
  expect(idsOf(await feed.read())).toEqual(['e11', 'e12', 'e13', 'e14', 'e15', 'e16', 'e17']);
});
