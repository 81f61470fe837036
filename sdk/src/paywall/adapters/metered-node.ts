import type { Admitted } from '../base/admitted.ts';
import { isDelivered, type StoredAnswer, store } from '../base/answers.ts';
import { delivered, FAILED } from '../base/ends.ts';
import { type Metering, USAGE_HEADER } from '../base/meter.ts';
import { lastComment, lastEvent, resultOf } from '../base/metered-answer.ts';
import { createNodeCopy, innerOf, type NodeResponse } from './node-copy.ts';

type MeteredAdmitted = Admitted & { metering: Metering };
type Flushing = { flushHeaders?: () => unknown };

/** The head of an answer, which waits for its price as long as nothing of the body is sent. */
const createHead = (response: NodeResponse, metering: Metering, limit: number) => {
  const { inner, original } = innerOf(response);
  const kept = createNodeCopy(response, limit);
  const flushing = response as Flushing;
  const flushHeaders = flushing.flushHeaders?.bind(response);
  let waiting: unknown[] | null = null;
  let isSent = false;

  const send = (): void => {
    if (isSent) return;
    isSent = true;
    const usage = metering.usage();
    const status = (waiting?.[0] as number | undefined) ?? response.statusCode;
    if (usage !== '' && isDelivered(status)) response.setHeader(USAGE_HEADER, usage);
    if (waiting !== null) original.writeHead(...waiting);
  };
  inner.writeHead = (...args) => {
    kept.keepHead(args);
    // Node calls it for an implicit head, too.
    if (isSent) return original.writeHead(...args);
    waiting = args;
    return response;
  };
  if (flushHeaders !== undefined)
    flushing.flushHeaders = () => {
      send();
      return flushHeaders();
    };
  return {
    ...kept,
    inner,
    original,
    send,
    isSent: () => isSent,
    status: (): number => kept.head()?.status ?? (waiting?.[0] as number | undefined) ?? response.statusCode,
    header: (name: string): string | null => {
      const found = kept.head()?.headers.find(([each]) => each.toLowerCase() === name.toLowerCase());
      return found?.[1] ?? null;
    },
  };
};

/** The answer as it is stored for a repeat. Null: it is too long. */
const answerOf = ({ head, copy }: ReturnType<typeof createHead>, metering: Metering): StoredAnswer | null => {
  const kept = head();
  if (kept === null || copy.tooLong()) return null;
  return store(kept.status, [...kept.headers, [USAGE_HEADER, metering.usage()]], copy.chunks);
};

/**
 * Ends an answer with what its handler gives, and the comment of a stream.
 * @param args those of `end`
 */
const endWith = (
  original: ReturnType<typeof innerOf>['original'],
  comment: Uint8Array | null,
  args: unknown[],
): void => {
  if (comment === null) {
    original.end(...args);
    return;
  }
  if (typeof args[0] !== 'function' && args[0] != null) original.write(args[0], args[1]);
  original.end(
    comment,
    args.find((each) => typeof each === 'function'),
  );
};

/** Sends nothing and charges nothing, because the head of the answer cannot be sent. */
const giveUp = (
  error: unknown,
  { destroy }: ReturnType<typeof innerOf>['original'],
  { metering, finish }: MeteredAdmitted,
): void => {
  metering.fault(error);
  void finish(FAILED);
  destroy();
};

/** As `captureNode`, for a metered route: also the price, its header, and the end of a stream. */
export const meterNode = (response: NodeResponse, admitted: MeteredAdmitted, limit: number): void => {
  const { metering, finish, isRepeatable } = admitted;
  const head = createHead(response, metering, limit);
  const { inner, original, copy } = head;
  const needsCopy = !isRepeatable || !metering.isFixed;
  let isEnded = false;
  // By the vendor.
  let isBroken = false;

  /** Ends the answer when its price is known. */
  const conclude = async (args: unknown[]): Promise<void> => {
    if (!isDelivered(head.status())) {
      // First, so that a buyer who repeats the request finds its authorization released.
      await finish(FAILED);
      head.send();
      original.end(...args);
      return;
    }
    const chunks = copy.tooLong() ? null : copy.chunks;
    await metering.conclude(resultOf(head.status(), head.header, copy.bytes(), chunks));
    head.send();
    metering.begin();
    const comment = lastComment(head.header, metering);
    const outcome = isRepeatable ? null : answerOf(head, metering);
    endWith(original, comment, args);
    return finish(delivered(outcome));
  };
  const breakOff = (): void => {
    // Before the first byte the handler answers, for instance with an error.
    const reason = metering.stopped()!;
    if (isEnded || isBroken || !head.isSent() || reason === 'gone') return;
    isBroken = true;
    if (reason === 'used_up') metering.leave();
    const last = lastEvent(head.header, reason, metering);
    void finish(FAILED);
    if (last === null) original.destroy();
    else original.end(last);
  };

  inner.write = (...args) => {
    if (isBroken || isEnded) return false;
    if (needsCopy) head.keep(args[0], args[1]);
    head.send();
    if (isDelivered(head.status())) metering.begin();
    return original.write(...args);
  };
  inner.end = (...args) => {
    if (isBroken || isEnded) return response;
    isEnded = true;
    if (needsCopy) head.keep(typeof args[0] === 'function' ? undefined : args[0], args[1]);
    conclude(args).catch((error) => giveUp(error, original, admitted));
    return response;
  };
  inner.destroy = (...args) => {
    // A handler may destroy it because its buyer has left.
    if (response.socket?.destroyed !== true) isBroken = true;
    return original.destroy(...args);
  };
  metering.meter.signal.addEventListener('abort', breakOff, { once: true });
  response.once('close', () => {
    if (isEnded) return;
    metering.stop('gone');
    if (!isBroken && metering.hasBegun()) metering.leave();
    void finish(FAILED);
  });
};
