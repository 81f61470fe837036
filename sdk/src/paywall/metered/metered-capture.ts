import { type Admitted, createCopy, deliveredHeaders } from '../base/admitted.ts';
import { isDelivered, type StoredAnswer, store } from '../base/answers.ts';
import { delivered, FAILED } from '../base/ends.ts';
import { type Metering, USAGE_HEADER } from '../base/meter.ts';
import { joined, lastComment, lastEvent, resultOf } from '../base/metered-answer.ts';

/** Answers of metered routes of web-standard requests: their price, their header and their end. */

type MeteredAdmitted = Admitted & { metering: Metering };
type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Read = Awaited<ReturnType<Reader['read']>>;

const soon = (): Promise<null> => new Promise((resolve) => setTimeout(() => resolve(null), 0));

/**
 * Reads what is there already, so that the header of an answer that is not a stream shows its
 * price.
 * @returns the chunks, and the read that waits for more. Null: there are no more
 */
const readAhead = async (
  reader: Reader,
  limit: number,
): Promise<{ chunks: Uint8Array[]; waiting: Promise<Read> | null }> => {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const waiting = reader.read();
    if (size > limit) return { chunks, waiting };
    const read = await Promise.race([waiting, soon()]);
    if (read === null) return { chunks, waiting };
    if (read.done) return { chunks, waiting: null };
    size += read.value.length;
    chunks.push(read.value);
  }
};

/** The reads of a body, of which the first were made ahead. */
const readsOf = (reader: Reader, chunks: readonly Uint8Array[], waiting: Promise<Read> | null) => {
  const ahead = [...chunks];
  let next = waiting;
  return async (): Promise<Uint8Array | null> => {
    const known = ahead.shift();
    if (known !== undefined) return known;
    const reading = next ?? reader.read();
    next = null;
    const { done, value } = await reading;
    return done ? null : value;
  };
};

/** A stream that ends when its meter is stopped, and is charged until then. */
const streamOf = (
  read: () => Promise<Uint8Array | null>,
  reader: Reader,
  { metering, finish }: MeteredAdmitted,
  {
    header,
    conclude,
    add,
  }: {
    header: (name: string) => string | null;
    conclude: () => Promise<StoredAnswer | null>;
    add: (chunk: Uint8Array) => void;
  },
): ReadableStream<Uint8Array> => {
  const { signal } = metering.meter;
  const stopped = new Promise<'stopped'>((resolve) => {
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
  const breakOff = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const reason = metering.stopped()!;
    if (reason === 'used_up' && metering.hasBegun()) metering.leave();
    const last = lastEvent(header, reason, metering);
    await finish(FAILED);
    reader.cancel(signal.reason).catch(() => undefined);
    if (last === null) return controller.error(signal.reason);
    controller.enqueue(last);
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const chunk = await Promise.race([read(), stopped]);
        if (chunk === 'stopped') return await breakOff(controller);
        if (chunk !== null) {
          metering.begin();
          add(chunk);
          return controller.enqueue(chunk);
        }
      } catch (error) {
        if (metering.stopped() !== null) return breakOff(controller);
        await finish(FAILED);
        return controller.error(error);
      }
      await finish(delivered(await conclude()));
      const comment = lastComment(header, metering);
      if (comment !== null) controller.enqueue(comment);
      controller.close();
    },
    // What was delivered until the buyer left is charged, and the handler need not go on.
    cancel: async (reason) => {
      metering.stop('gone');
      if (metering.hasBegun()) metering.leave();
      await finish(FAILED);
      await reader.cancel(reason);
    },
  });
};

/** As `capture`, for a metered route. */
export const captureMetered = async (
  response: Response,
  admitted: MeteredAdmitted,
  limit: number,
): Promise<Response> => {
  const { metering, finish, isRepeatable } = admitted;
  const { status, statusText, body } = response;
  const headers = deliveredHeaders(response, admitted);
  const header = (name: string): string | null => headers.get(name);
  const like = (content: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null) => {
    const usage = metering.usage();
    if (usage !== '' && isDelivered(status)) headers.set(USAGE_HEADER, usage);
    return new Response(content, { status, statusText, headers });
  };
  if (!isDelivered(status)) {
    await finish(FAILED);
    return like(body);
  }
  const copy = createCopy(limit);
  const conclude = async (): Promise<StoredAnswer | null> => {
    const chunks = copy.tooLong() ? null : copy.chunks;
    await metering.conclude(resultOf(status, header, copy.bytes(), chunks));
    const stored: [string, string][] = [...headers].filter(([name]) => name !== USAGE_HEADER);
    return copy.tooLong() || isRepeatable
      ? null
      : store(status, [...stored, [USAGE_HEADER, metering.usage()]], copy.chunks);
  };
  if (body === null || (isRepeatable && metering.isFixed)) {
    metering.begin();
    await finish(delivered(await conclude()));
    return like(body);
  }
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const isStream = lastComment(header, metering) !== null;
  const { chunks, waiting } =
    metering.isFixed || isStream ? { chunks: [], waiting: reader.read() } : await readAhead(reader, limit);
  if (waiting !== null) {
    const more = { header, conclude, add: copy.add };
    return like(streamOf(readsOf(reader, chunks, waiting), reader, admitted, more));
  }
  for (const chunk of chunks) copy.add(chunk);
  metering.begin();
  const answer = await conclude();
  await finish(delivered(answer));
  return like(joined(chunks));
};
