import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from './purchases.ts';

/** A webhook: the bytes as they were when it happened, signed anew for each time it is sent. */
export type Webhook = { url: string; body: string; sign: (body: string) => Record<string, string> };

/** Both providers try again for hours; here the pauses are short and few. */
const retryPausesMs = [500, 2000, 5000, 15_000, 60_000];
const timeoutMs = 5000;

const post = async ({ url, body, sign }: Webhook): Promise<boolean> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...sign(body) },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) console.error(`webhook: ${response.status}`);
    return response.ok;
  } catch (error) {
    console.error(`webhook: ${(error as Error).name}`);
    return false;
  }
};

/** Sends until it is taken; what has not been taken after the last try is lost, as with the real ones. */
const deliver = async (webhook: Webhook, { lateMs, twice }: Behaviour): Promise<void> => {
  await sleep(lateMs);
  for (const pauseMs of retryPausesMs) {
    if (await post(webhook)) break;
    await sleep(pauseMs);
  }
  if (twice) await post(webhook);
};

/** Sends webhooks of purchases as their behaviour says. What waits when the sandbox stops is not sent. */
export const createDelivery = () => {
  const heldBack = new Map<string, Webhook[]>();
  return {
    /** @param over the purchase's last webhook: with `reversed`, all that was kept back follows it */
    send: (
      { id, behaviour }: { id: string; behaviour: Behaviour },
      webhook: Webhook,
      { over }: { over: boolean },
    ): void => {
      if (behaviour.silent) return;
      if (!behaviour.reversed) return void deliver(webhook, behaviour);
      const list = [webhook, ...(heldBack.get(id) ?? [])];
      heldBack.set(id, list);
      if (!over) return;
      heldBack.delete(id);
      void (async () => {
        for (const each of list) await deliver(each, behaviour);
      })();
    },
  };
};
export type Delivery = ReturnType<typeof createDelivery>;
