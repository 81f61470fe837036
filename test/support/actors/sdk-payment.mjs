/**
 * A webhook, signed and verified by the cryptography of whatever runs this, and the same with a
 * changed body.
 */
const verifiedWebhooks = async (verifyWebhook) => {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const base64 = (each) => btoa(String.fromCharCode(...new Uint8Array(each)));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const body = JSON.stringify({ id: 'evt_1', type: 'webhook.test' });
  const time = String(Math.floor(Date.now() / 1000));
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`evt_1.${time}.${body}`));
  const headers = new Headers({
    'webhook-id': 'evt_1',
    'webhook-timestamp': time,
    'webhook-signature': `v1,${base64(mac)}`,
  });
  const verify = (sent) => verifyWebhook(sent, headers, `whsec_${base64(bytes)}`);
  return [(await verify(body)).type, await verify(`${body} `).catch(({ name }) => name)];
};

/**
 * One payment through the packed SDK by whatever runs this: Node, a page, a worker. It imports
 * nothing, as each of them finds the SDK in its own way.
 * @param sdk what the package exports
 * @param consumer the credential that pays
 */
export const pay = async (
  { createClient, QuoteExpiredError, ValidationError, verifyWebhook },
  { baseUrl, apiKey, serviceId },
  consumerCredential,
) => {
  const vendor = createClient({ baseUrl, credential: apiKey });
  const consumer = createClient({ baseUrl, credential: consumerCredential });

  const quote = await vendor.quote.create({ service_id: serviceId });
  const paid = await consumer.settlement.settle({ quote_token: quote.quote_token });
  const again = await consumer.settlement.settle({ quote_token: quote.quote_token });
  const { settlement_id, settlement_token } = paid;
  const redeemed = await vendor.settlement.redeemOnce({ settlement_id, settlement_token, redeem_id: 'sdk' });
  const verified = await vendor.settlement.verify({ settlement_id });

  const listed = [];
  for await (const each of consumer.settlement.list({ limit: '1' })) listed.push(each.settlement_id);
  const refusal = await vendor.quote.create({ service_id: 'none' }).catch((error) => error);
  return {
    paid,
    again,
    redeemed,
    verified: verified.status,
    listed,
    invalid: refusal instanceof ValidationError && !(refusal instanceof QuoteExpiredError),
    details: refusal.details,
    webhooks: await verifiedWebhooks(verifyWebhook),
  };
};
