// One payment through the installed SDK, by whatever Node runs this: settings come in, what happened goes out as JSON.
import { createClient, memoryTokens, QuoteExpiredError, ValidationError } from '@quittance/sdk';
import { payingFetch } from '@quittance/sdk/pay';

const { baseUrl, apiKey, serviceId, tokens } = JSON.parse(process.argv[2]);
const store = memoryTokens(tokens);
const vendor = createClient({ baseUrl, credential: apiKey });
const consumer = createClient({ baseUrl, credential: store });

const quote = await vendor.quote.create({ service_id: serviceId });
const paid = await consumer.settlement.settle({ quote_token: quote.quote_token });
const again = await consumer.settlement.settle({ quote_token: quote.quote_token });
const { settlement_id, settlement_token } = paid;
const redeemed = await vendor.settlement.redeem({ settlement_id, settlement_token, redeem_id: 'sdk' });
const verified = await vendor.settlement.verify({ settlement_id });

const listed = [];
for await (const each of consumer.settlement.list({ limit: '1' })) listed.push(each.settlement_id);
const refusal = await vendor.quote.create({ service_id: 'none' }).catch((error) => error);

console.log(
  JSON.stringify({
    node: process.version,
    paid,
    again,
    redeemed,
    verified: verified.status,
    listed,
    invalid: refusal instanceof ValidationError && !(refusal instanceof QuoteExpiredError),
    details: refusal.details,
    paying: typeof payingFetch,
    refreshed: store.load().access_token !== tokens.access_token,
  }),
);
