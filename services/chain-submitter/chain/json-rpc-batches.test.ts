import { expect, test } from '@jest/globals';
import { createBatches, type Request } from './json-rpc-batches.ts';

const request = (id: string): Request => ({ jsonrpc: '2.0', id, method: 'getSlot', params: [] });
const answerTo = ({ id }: Request) => ({ id, result: `answer to ${id}` });

/** A provider that records what it receives. */
const provider = (answer: (body: unknown) => unknown) => {
  const received: unknown[] = [];
  const call = createBatches(async (text) => {
    const body = JSON.parse(text) as unknown;
    received.push(body);
    return answer(body);
  });
  return { call, received };
};
const honest = (body: unknown): unknown =>
  Array.isArray(body) ? (body as Request[]).map(answerTo).toReversed() : answerTo(body as Request);

test('the calls of one turn share a request, and each gets the answer with its id', async () => {
  const { call, received } = provider(honest);
  const calls = ['a', 'b', 'c'].map(request);
  expect(await Promise.all(calls.map(call))).toEqual(calls.map(answerTo));
  expect(received).toEqual([calls]);
});

test('a single call is no batch, and many calls are several batches', async () => {
  const { call, received } = provider(honest);
  await call(request('alone'));
  const many = Array.from({ length: 20 }, (_, n) => request(`${n}`));
  expect(await Promise.all(many.map(call))).toEqual(many.map(answerTo));
  expect(received).toEqual([request('alone'), many.slice(0, 16), many.slice(16)]);
});

test('a call that the answer to the batch does not have gets none', async () => {
  const { call } = provider(() => [{ id: 'a', result: 1 }, null, { id: 'of another call', result: 2 }]);
  expect(await Promise.all([call(request('a')), call(request('b'))])).toEqual([
    { id: 'a', result: 1 },
    undefined,
  ]);
});

test.each<[string, () => unknown]>([
  ['an error', () => ({ id: null, error: { code: -32600, message: 'no batches' } })],
  [
    'a page',
    () => {
      throw new SyntaxError('Unexpected token <');
    },
  ],
])('a provider that answers a batch with %s gets single calls from then on', async (_, refuse) => {
  const { call, received } = provider((body) => (Array.isArray(body) ? refuse() : honest(body)));
  const calls = ['a', 'b'].map(request);
  for (let turn = 0; turn < 2; turn += 1)
    expect(await Promise.all(calls.map(call))).toEqual(calls.map(answerTo));
  expect(received).toEqual([calls, ...calls, ...calls]);
});

test('every call of a batch that is not answered fails, and is not repeated', async () => {
  const { call, received } = provider(() => {
    throw Object.assign(new Error('closed'), { code: 'ECONNRESET' });
  });
  const ended = await Promise.allSettled(['a', 'b'].map((id) => call(request(id))));
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(received).toHaveLength(1);
});
