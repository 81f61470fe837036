import { expect, test } from '@jest/globals';
import { whileRead } from './while-read.ts';

test.each(['text', 'arrayBuffer', 'blob', 'bytes'] as const)(
  'an answer is read by %s as without it',
  async (how) => {
    const seen: number[] = [];
    let ends = 0;
    const watch = { chunk: (bytes: Uint8Array) => seen.push(bytes.length), end: () => (ends += 1) };
    const answer = whileRead(new Response('hello', { headers: { 'content-type': 'text/plain' } }), watch);
    expect(answer.bodyUsed).toBe(false);
    const read = await answer[how]();
    expect(how === 'text' ? read : ((read as Blob).size ?? (read as ArrayBuffer).byteLength)).toEqual(
      how === 'text' ? 'hello' : 5,
    );
    await Promise.resolve();
    expect([seen.reduce((sum, size) => sum + size, 0), ends, answer.bodyUsed]).toEqual([5, 1, true]);
    await expect(answer.text()).rejects.toThrow('disturbed or locked');
  },
);

test('JSON is JSON, an error of the stream reaches its reader, and an answer without a body stays as it is', async () => {
  expect(await whileRead(Response.json({ a: 1 }), { end: () => undefined }).json()).toEqual({ a: 1 });
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) });
  await expect(whileRead(new Response(broken), { end: () => undefined }).text()).rejects.toThrow('broken');
  const empty = new Response(null, { status: 204 });
  expect(whileRead(empty, { end: () => undefined })).toBe(empty);
  expect(empty.body).toBe(null);
});
