/**
 * One payment through the packed SDK by whatever runs this: Node, a page, a worker. It imports
 * nothing, as each of them finds the SDK in its own way.
 * @param sdk what the package exports
 * @param consumer the credential that pays
 */
export const pay = async (
  { createClient, QuoteExpiredError, ValidationError },
  { baseUrl, apiKey, serviceId },
  consumerCredential,
) => {
  const vendor = createClient({ baseUrl, credential: apiKey });
  const consumer = createClient({ baseUrl, credential: consumerCredential });

  const quote = await vendor.quote.create({ service_id: serviceId });
  const paid = await consumer.settlement.settle({ quote_token: quote.quote_token });
  const again = await consumer.settlement.settle({ quote_token: quote.quote_token });
  const { settlement_id, settlement_token } = paid;
  const redeemed = await vendor.settlement.redeem({ settlement_id, settlement_token, redeem_id: 'sdk' });
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
  };
};
