import { Webhook } from 'standardwebhooks';

/**
 * The headers of a delivery, with one signature for each secret: a receiver that knows either
 * accepts it.
 * @param now the time of this attempt in epoch milliseconds; receivers refuse one that is older
 *   than five minutes
 */
export const signedHeaders = (
  secrets: readonly string[],
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(now / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
});
