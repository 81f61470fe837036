import { expect, test } from '@jest/globals';
import { contractList } from './index.ts';

test('whoever consumes events of a service may read again what it has sent', () => {
  for (const { name, events, internal } of contractList) {
    const prefix = `${name}.`;
    const readers = contractList.filter(({ consumes }) => consumes.some((each) => each.startsWith(prefix)));
    const { callers = [] } = internal.listSentEvents ?? {};
    expect([name, [...callers].sort()]).toEqual([name, readers.map((reader) => reader.name).sort()]);
    if (readers.length > 0) expect(Object.keys(events)).not.toEqual([]);
  }
});
