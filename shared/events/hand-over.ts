import type { Bus } from '../bus/connect.ts';
import { handOver, isSilence, type Receiver, receiverSubject } from '../bus/hand-over.ts';
import { failpoint } from '../lib/failpoint.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { type Entry, MAX_EVENTS } from './event-list.ts';
import type { OutboxRow } from './outbox.ts';

/**
 * A receiver that did not answer is asked no more for this time. It may be paused, and the server
 * would go on to pass requests to it.
 */
const AVOIDED_FOR_MS = 5000;

/**
 * Hands rows over to their receivers. Messages of one turn for one receiver are one request.
 * @returns a function of rows with parts; whether all parts of each row were accepted
 */
export const createHandOver = (bus: Bus, waits: { answeredWithinMs?: number } = {}) => {
  const avoidedUntil = new Map<string, number>();

  const handOne = async (receiver: Receiver, entries: readonly Entry[]): Promise<boolean> => {
    const subject = receiverSubject(receiver);
    const until = avoidedUntil.get(subject);
    if (until !== undefined && performance.now() < until) return false;
    avoidedUntil.delete(subject);
    try {
      await failpoint('outbox.beforeHandOver');
      const [first] = entries as [Entry, ...Entry[]];
      // One payload is sent as it is published: its handler continues the trace of the message.
      const payload = entries.length === 1 ? first.payload : entries;
      await handOver(bus, receiver, payload, { traceparent: first.traceparent ?? null, ...waits });
      await failpoint('outbox.afterHandOver');
      return true;
    } catch (error) {
      if (isSilence(error)) avoidedUntil.set(subject, performance.now() + AVOIDED_FOR_MS);
      count('quittance_lane_fallbacks_total', entries.length, {
        to: receiver.service,
        kind: 'message',
      });
      return false;
    }
  };

  const handAll = async (receiver: Receiver, entries: readonly Entry[]): Promise<boolean> => {
    const requests: Promise<boolean>[] = [];
    for (let at = 0; at < entries.length; at += MAX_EVENTS)
      requests.push(handOne(receiver, entries.slice(at, at + MAX_EVENTS)));
    return (await Promise.all(requests)).every((isAccepted) => isAccepted);
  };

  return (rows: readonly OutboxRow[]): { row: OutboxRow; accepted: Promise<boolean> }[] => {
    const bySubject = new Map<string, { receiver: Receiver; entries: Entry[] }>();
    for (const { receiver, entries } of rows.flatMap(({ parts = [] }) => parts)) {
      const subject = receiverSubject(receiver);
      const found = bySubject.get(subject);
      if (found === undefined) bySubject.set(subject, { receiver, entries: [...entries] });
      else found.entries.push(...entries);
    }
    const accepted = new Map(
      [...bySubject].map(([subject, { receiver, entries }]) => [subject, handAll(receiver, entries)]),
    );
    return rows.map((row) => {
      const ofRow = row.parts!.map(({ receiver }) => accepted.get(receiverSubject(receiver))!);
      return { row, accepted: Promise.all(ofRow).then((all) => all.every((isAccepted) => isAccepted)) };
    });
  };
};
