import type { IncomingMessage, ServerResponse } from 'node:http';
import { isEventStream } from '../../../sdk/src/paywall/adapter.ts';
import { createFirstPart } from '../ground/metered.ts';
import type { Cost, Priced } from './cost.ts';
import { answerTrailers } from './headers.ts';

/** How long a paid answer that has an end is read on for a buyer who has disconnected. */
const GRACE_MS = 30_000;
/** A reader who has held an answer up for longer in all may have caused its upstream to give up. */
const HELD_UP_MS = 1000;

/** How long the reader of an answer lets it wait. */
const createReader = (response: ServerResponse) => {
  let since: number | null = null;
  let heldMs = 0;
  response.on('drain', () => {
    if (since !== null) heldMs += performance.now() - since;
    since = null;
  });
  return {
    waits: (): void => {
      since ??= performance.now();
    },
    hasHeldUp: (): boolean => response.writableNeedDrain || heldMs > HELD_UP_MS,
  };
};

type Passing = Priced & { response: ServerResponse };
/** `whole`: the answer has reached its end. `gone`: its client has left. `broken`: its upstream. */
type Passed = { bytes: number; end: 'whole' | 'gone' | 'broken' };

/** Runs the listeners of one answer. An error that reached its emitter would end the process. */
const createSafely =
  (onError: (error: unknown) => void) =>
  <A extends unknown[]>(run: (...args: A) => void) =>
  (...args: A): void => {
    try {
      run(...args);
    } catch (error) {
      onError(error);
    }
  };

/**
 * Sends the parts of an answer as fast as its client reads, and reads on for a client who has gone
 * as far as a repeat needs it.
 */
const createSending = (
  answer: IncomingMessage,
  { response, delivery }: Passing,
  cost: Cost,
  storedBytes: number,
) => {
  // A short answer is read for a repeat, whether its buyer reads it or not. So nobody can cause it
  // to break, and to be made again.
  const isKept = delivery !== null && !delivery.isRepeatable && delivery.metering === null;
  const ahead = isKept ? storedBytes : 0;
  const reader = createReader(response);
  let bytes = 0;
  let isGone = false;
  let grace: NodeJS.Timeout | undefined;
  const leave = () => {
    const isShort = bytes <= storedBytes;
    // A stream of events may have no end, so its upstream must learn at once that nobody reads it.
    const isEndless = isEventStream(answer.headers['content-type']);
    if (isKept && isShort && !isEndless) return answer.resume();
    // Of any other one its end has decided.
    if (isKept) void cost.end(isShort ? 'gone' : 'delivered');
    return answer.destroy();
  };
  response.on('drain', () => answer.resume());
  return {
    count: (chunk: Buffer): void => {
      bytes += chunk.length;
    },
    send: (chunk: Buffer): void => {
      const isTaken = response.write(chunk);
      if (isGone) return void leave();
      if (isTaken || bytes <= ahead) return;
      reader.waits();
      answer.pause();
    },
    /** The client has gone. */
    gone: (): void => {
      // A meter that stops ends the response before the answer has ended.
      if (response.writableFinished && answer.complete) return;
      isGone = true;
      grace = setTimeout(() => answer.destroy(), GRACE_MS);
      grace.unref();
      leave();
    },
    isGone: () => isGone,
    hasHeldUp: reader.hasHeldUp,
    end: (how: Passed['end']): Passed => {
      clearTimeout(grace);
      return { bytes, end: how };
    },
  };
};

/**
 * Passes the answer on with its trailers.
 * @throws errors of an answer that cannot be passed
 */
export const passAnswer = (
  answer: IncomingMessage,
  passing: Passing,
  cost: Cost,
  storedBytes: number,
): Promise<Passed> =>
  new Promise((resolve, reject) => {
    const { response, request, delivery } = passing;
    const sending = createSending(answer, passing, cost, storedBytes);
    const end = (how: Passed['end']) => resolve(sending.end(how));
    const safely = createSafely((error) => {
      reject(error);
      answer.destroy();
    });
    const parts = createFirstPart(delivery, safely(sending.send));
    const onData = (chunk: Buffer) => {
      sending.count(chunk);
      parts.add(chunk);
    };
    const onEnd = () => {
      if (!answer.complete) return;
      const trailers = answerTrailers(answer.rawTrailers);
      if (trailers.length > 0 && request.httpVersionMinor > 0) response.addTrailers(trailers);
      response.end(parts.rest());
      void cost.end('whole');
      end(sending.isGone() ? 'gone' : 'whole');
    };
    const onClose = () => {
      if (answer.complete) return;
      parts.rest();
      if (sending.isGone()) return end('gone');
      void cost.end(sending.hasHeldUp() ? 'delivered' : 'failed');
      response.destroy();
      end('broken');
    };
    if (response.destroyed) sending.gone();
    else response.once('close', sending.gone);
    // After an error `close` follows, which decides.
    answer.on('data', safely(onData)).on('error', () => undefined);
    answer.once('end', safely(onEnd)).once('close', safely(onClose));
  });
