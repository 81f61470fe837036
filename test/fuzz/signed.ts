import { createHmac } from 'node:crypto';

/** Signatures, so that a changed body passes the check and reaches the parser behind it. */

export const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac;
};

/** The headers of a delivery of Standard Webhooks that is sent now. */
export const signedWebhook = (secret: string, body: string): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(key, `evt_1.${timestamp}.`, body).digest('base64')}`,
  };
};
