import type { TestBus } from './bus.ts';
import { eventPayloads } from './event-payloads.ts';
import { waitFor } from './wait.ts';

type Noted = { account_id: string; kind: string; details: Record<string, string>; client: object | null };

/** Collects what a service notes for the owners of accounts. */
export const collectNotes = async (testBus: TestBus, service: string) => {
  const listener = await testBus.as('admin');
  const notes: Noted[] = [];
  listener.nc.subscribe(`evt.${service}.securityNoted`, {
    callback: (_error, msg) => void notes.push(...eventPayloads<Noted>(msg)),
  });
  await listener.nc.flush();
  /** The kinds that an account was told, once there are so many. */
  return (accountId: string, count: number): Promise<Noted[]> =>
    waitFor(
      async () => notes.filter(({ account_id }) => account_id === accountId),
      ({ length }) => length >= count,
    );
};
