import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from './purchases.ts';

/** A webhook. The body is fixed when the event happens. Each delivery is signed again. */
export type Webhook = { url: string; body: string; sign: (body: string) => Record<string, string> };

/** The real providers retry for hours. Here the pauses are short and few. */
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

/**
 * Delivers a webhook until the receiver accepts it. After the last retry it is lost, as it is with
 * the real providers.
 */
const deliver = async (webhook: Webhook, { lateMs, twice }: Behaviour): Promise<void> => {
  await sleep(lateMs);
  for (const pauseMs of retryPausesMs) {
    if (await post(webhook)) break;
    await sleep(pauseMs);
  }
  if (twice) await post(webhook);
};

/**
 * Sends the webhooks of purchases according to their behaviour. Webhooks that still wait when the
 * sandbox stops are lost.
 */
export const createDelivery = () => {
  const heldBack = new Map<string, Webhook[]>();
  return {
    /**
     * @param over this is the purchase's last webhook; with `reversed`, the webhooks held back
     *   follow it
     */
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
