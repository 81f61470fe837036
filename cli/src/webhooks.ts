import { createHmac, randomBytes } from 'node:crypto';

/** Signatures of Standard Webhooks (standardwebhooks.com), as the API signs its deliveries. */

const PREFIX = 'whsec_';

/** A secret of 256 random bits. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`;

/** The headers of a delivery. `now` in epoch milliseconds. */
export const signedHeaders = (
  secret: string,
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> => {
  const seconds = String(Math.floor(now / 1000));
  const mac = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` };
};
