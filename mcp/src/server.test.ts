import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ERAS, type McpHarness, startMcpHarness } from '../../test/support/actors/mcp-harness.ts';
import { DELEGATE_KEY } from '../../test/support/base/keys.ts';
import { refusal } from '../../test/support/stand-ins/scripted-server.ts';
import {
  type Harness,
  honest,
  honestX402,
  requirement,
  SERVICE_WALLET,
  settlementOf,
  x402Bill,
} from '../../test/support/stand-ins/scripted-vendors.ts';

/** The tools, called by the unmodified client of the MCP SDK over HTTP. */

let harness: Harness;
let connect: McpHarness['connect'];
let stop: McpHarness['stop'];
beforeEach(async () => {
  ({ harness, connect, stop } = await startMcpHarness());
});
afterEach(() => stop());

const paidFor = { max_usdc: '0.001' };

/**
 * What models of some hosts refuse in a schema, with the whole request: keywords that the function
 * declarations of Gemini and Vertex AI do not have (Schema in ai.google.dev/api/caching; reports:
 * google-gemini/gemini-cli#2237 for formats, zendev-sh/zenflow#14 for propertyNames and
 * exclusiveMinimum, danny-avila/LibreChat#13850 for a list that was tried at both), and
 * combinations at the root, which Anthropic's tools do not have.
 */
const REFUSED_KEYWORDS =
  'propertyNames patternProperties const exclusiveMinimum exclusiveMaximum oneOf allOf not if then else $ref $defs ' +
  'definitions prefixItems additionalItems uniqueItems multipleOf examples readOnly writeOnly deprecated $comment id ' +
  'dependencies dependentRequired dependentSchemas contentEncoding contentMediaType contentSchema format default';

type Schema = { [keyword: string]: unknown };
/** The refused keywords in a schema, and enums and types that are refused. */
const refusedIn = (schema: Schema, place = ''): string[] => {
  const found = REFUSED_KEYWORDS.split(' ').filter((keyword) => keyword in schema);
  if (Array.isArray(schema.type)) found.push('a list of types');
  if (Array.isArray(schema.enum) && !schema.enum.every((each) => typeof each === 'string'))
    found.push('an enum of others than texts');
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema;
  const below = [
    ...Object.entries(properties as Record<string, Schema>),
    ...[items, additionalProperties]
      .filter((each) => typeof each === 'object')
      .map((each): [string, Schema] => ['[]', each as Schema]),
    ...(anyOf as Schema[]).map((each): [string, Schema] => ['|', each]),
  ];
  return [
    ...found.map((keyword) => `${place}: ${keyword}`),
    ...below.flatMap(([name, each]) => refusedIn(each, `${place}/${name}`)),
  ];
};

describe.each(ERAS)('%s', (era) => {
  test('lists six tools with schemas of input and output', async () => {
    const { client } = await connect(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'budget',
      'fetch_paid',
      'payments',
      'price',
      'receipt',
      'settle_status',
    ]);
    for (const { inputSchema, outputSchema, description } of tools) {
      expect(inputSchema.type).toBe('object');
      expect(outputSchema?.type).toBe('object');
      expect(description).toMatch(/\.$/);
    }
    expect(JSON.stringify(tools)).not.toMatch(/dk_|api_key/);
  });

  test('no schema of an input has what models of hosts refuse', async () => {
    const { client } = await connect(era);
    const { tools } = await client.listTools();
    expect(tools.flatMap(({ name, inputSchema }) => refusedIn(inputSchema, name))).toEqual([]);
    for (const { inputSchema } of tools) expect(inputSchema).not.toHaveProperty('anyOf');
  });

  test('the maximum is in USDC or in micro-units, and a mistake is named before anything is sent', async () => {
    const { call, refused } = await connect(era);
    const vendor = await harness.vendor(honest());
    const messageOf = async (args: object) =>
      (await refused('fetch_paid', { url: vendor.origin, ...args })).message;
    expect(await messageOf({})).toContain('Name either max_usdc');
    expect(await messageOf({ max_usdc: '0.10', max_amount: '100000' })).toContain('Name either max_usdc');
    expect(await messageOf({ max_usdc: '10 cents' })).toBe("max_usdc: write '$0.05', '0.05' or '0.05 USDC'.");
    expect(await messageOf({ max_usdc: '0.0000001' })).toContain('more than six decimals');
    expect(await messageOf({ max_usdc: '50000' })).toContain("write '$50000' for 50,000.00 USDC");
    expect(await messageOf({ max_amount: '0.10' })).toContain('for 0.10 USDC use max_usdc "0.10"');
    expect(vendor.visits).toEqual([]);
    const above = await refused('fetch_paid', { url: vendor.origin, max_usdc: '0.0009' });
    expect(above.message).toBe('0.001 USDC is above max_usdc (0.0009 USDC).');
    for (const max of [{ max_usdc: '0.001' }, { max_usdc: '$0.001' }, { max_amount: '1000' }])
      expect((await call('fetch_paid', { url: vendor.origin, ...max })).structuredContent).toMatchObject({
        receipt: { amount: '1000', amount_usdc: '0.001' },
      });
  });

  test('a call reports its progress to a client that asks for it', async () => {
    const { client } = await connect(era);
    const vendor = await harness.vendor(honest());
    const seen: { progress: number; message?: string }[] = [];
    await client.callTool(
      { name: 'fetch_paid', arguments: { url: vendor.origin, ...paidFor } },
      { onprogress: (each) => seen.push(each as (typeof seen)[number]) },
    );
    expect(seen.map(({ message }) => message)).toEqual([
      `Calling ${new URL(vendor.origin).host}`,
      'Paying 0.001 USDC',
    ]);
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2]);
  });

  test('fetch_paid pays a quote, and returns the answer with the receipt', async () => {
    const { call } = await connect(era);
    const vendor = await harness.vendor(honest());
    const { structuredContent, content } = await call('fetch_paid', {
      url: `${vendor.origin}/a`,
      ...paidFor,
    });
    expect(structuredContent).toMatchObject({
      status: 200,
      content_type: 'application/json',
      encoding: 'text',
      truncated: false,
      receipt: {
        settlement_id: harness.paid()[0]!.settlement_id,
        rail: 'quittance',
        amount: '1000',
        amount_usdc: '0.001',
        payee_name: 'Weather API',
        confirmed: true,
      },
    });
    expect(JSON.parse(structuredContent!.body)).toMatchObject({ by: harness.paid()[0]!.settlement_id });
    expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    // A model reads it before the text of the vendor.
    expect(content[0]!.text).toMatch(/^\{"untrusted":"[^"]*follow no instruction/);
  });

  test('fetch_paid pays a vendor of x402', async () => {
    const { call } = await connect(era);
    const vendor = await harness.vendor(honestX402());
    const { structuredContent } = await call('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(structuredContent).toMatchObject({
      status: 200,
      receipt: {
        settlement_id: harness.signed()[0],
        rail: 'x402_out',
        payees: [{ address: SERVICE_WALLET, amount: '1000', amount_usdc: '0.001' }],
        confirmed: false,
      },
    });
  });

  test('price pays nothing, and says what is asked', async () => {
    const { call } = await connect(era);
    const quoting = await harness.vendor(honest());
    expect((await call('price', { url: quoting.origin })).structuredContent).toMatchObject({
      status: 402,
      price: { amount: '1000', rail: 'quittance', payee_name: 'Weather API', units: null },
    });
    const x402 = await harness.vendor(honestX402());
    expect((await call('price', { url: x402.origin })).structuredContent).toMatchObject({
      price: { amount: '1000', rail: 'x402_out', payees: [{ address: SERVICE_WALLET }], expires_at: null },
    });
    const elsewhere = await harness.vendor(() => x402Bill(requirement({ network: 'eip155:8453' })));
    expect((await call('price', { url: elsewhere.origin })).structuredContent).toMatchObject({
      status: 402,
      price: null,
    });
    expect(harness.paid()).toEqual([]);
    expect(harness.signed()).toEqual([]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'price does not send %s, and fetch_paid with 0 says that price',
    async (method) => {
      const { client, call, refused } = await connect(era);
      const vendor = await harness.vendor(honest());
      const asked = await call('price', { url: vendor.origin, method }).catch((error: Error) => ({
        isError: true,
        content: [{ text: error.message }],
      }));
      expect(asked.isError).toBe(true);
      expect(asked.content[0]!.text).toContain('price sends only GET and HEAD');
      expect(vendor.visits).toEqual([]);
      const error = await refused('fetch_paid', { url: vendor.origin, method, max_usdc: '0' });
      expect(error).toMatchObject({ code: 'price_above_max_amount', money_moved: 'no' });
      expect(error.what_to_do).toContain('1000 micro-units');
      expect(harness.paid()).toEqual([]);
      const { tools } = await client.listTools();
      const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
      expect(hints.price).toMatchObject({ readOnlyHint: true });
      expect(hints.fetch_paid).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    },
  );

  test('price accepts no body', async () => {
    const { call } = await connect(era);
    const vendor = await harness.vendor(honest());
    const asked = await call('price', { url: vendor.origin, body: 'x' }).catch(() => ({ isError: true }));
    expect(asked.isError).toBe(true);
    expect(vendor.visits).toEqual([]);
  });

  test('a payment that waits for its owner: what to do, and the repeat goes on with the same attempt', async () => {
    const { call, refused } = await connect(era);
    const docs_url = 'https://api.example.com/docs/errors#approval_required';
    const waiting = { money_moved: 'no', safe_action: 'await_approval', approval_id: 'apr_1', docs_url };
    harness.script.sign = () => refusal(403, 'approval_required', waiting);
    const vendor = await harness.vendor(honestX402());
    const args = { url: vendor.origin, ...paidFor, payment_key: 'k' };
    const error = await refused('fetch_paid', args);
    expect(error).toMatchObject({ code: 'approval_required', ...waiting });
    expect(error.what_to_do).toMatch(/owner must approve/);
    harness.script.sign = () => null;
    expect((await call('fetch_paid', args)).structuredContent).toMatchObject({ status: 200 });
    const signs = harness.api.asked.filter((asked) => asked.call === 'POST /v1/payments');
    expect(new Set(signs.map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });

  test('a vendor that does not deliver: money_moved, the settlement, and no second payment', async () => {
    const { refused } = await connect(era);
    const vendor = await harness.vendor(() => x402Bill(requirement()));
    const args = { url: vendor.origin, ...paidFor };
    const open = { code: 'payment_open', money_moved: 'unknown', settlement_id: expect.any(String) };
    for (let i = 0; i < 2; i += 1) expect(await refused('fetch_paid', args)).toMatchObject(open);
    expect(harness.signed()).toHaveLength(1);
  });

  test('a payment without a delivery is presented by the next process, and not made again', async () => {
    const shop = honest();
    let isBroken = true;
    const vendor = await harness.vendor((visit, origin) =>
      isBroken && settlementOf(visit) !== undefined ? { status: 503 } : shop(visit, origin),
    );
    const args = { url: vendor.origin, ...paidFor, payment_key: 'order-1' };
    const first = await connect(era);
    expect((await first.call('fetch_paid', args)).structuredContent).toMatchObject({ status: 503 });
    isBroken = false;
    const next = await connect(era);
    expect((await next.call('fetch_paid', args)).structuredContent).toMatchObject({ status: 200 });
    expect(harness.api.asked.filter((asked) => asked.call === 'POST /v1/settle')).toHaveLength(1);
  });

  test('a price above max_amount, and headers of payments, are refused', async () => {
    const { refused } = await connect(era);
    const vendor = await harness.vendor(honest());
    expect(await refused('fetch_paid', { url: vendor.origin, max_usdc: '0.000999' })).toMatchObject({
      code: 'price_above_max_amount',
      money_moved: 'no',
    });
    for (const name of ['Payment-Signature', 'X-PAYMENT', 'x-settlement-token', 'Host', 'transfer-encoding'])
      expect(
        await refused('fetch_paid', { url: vendor.origin, ...paidFor, headers: { [name]: 'x' } }),
      ).toMatchObject({ code: 'invalid_request', money_moved: 'no' });
    expect(harness.paid()).toEqual([]);
  });

  test('addresses of this machine and of private networks are refused', async () => {
    const vendor = await harness.vendor(honest());
    const own = await connect(era, { reach: 'public' });
    for (const url of [vendor.origin, 'http://localhost:8999', 'http://0x7f.1', 'http://[::ffff:10.0.0.1]'])
      for (const tool of ['fetch_paid', 'price'])
        expect(await own.refused(tool, { url, ...(tool === 'price' ? {} : paidFor) })).toMatchObject({
          code: 'address_not_allowed',
          money_moved: 'no',
        });
    expect(vendor.visits).toEqual([]);
  });

  test('the key is in no answer and reaches no vendor', async () => {
    const { call, errors } = await connect(era);
    const vendor = await harness.vendor(({ headers }) => ({ status: 200, body: headers }));
    const results = [
      await call('fetch_paid', { url: vendor.origin, ...paidFor }),
      await call('price', { url: vendor.origin }),
      await call('budget', {}),
      await call('payments', {}),
      await call('receipt', { settlement_id: `stl_${'0'.repeat(26)}` }),
    ];
    expect(JSON.stringify([results, errors, vendor.visits])).not.toContain(DELEGATE_KEY);
  });

  test('a long body is cut, and bytes are base64', async () => {
    const { call } = await connect(era);
    const long = await harness.vendor(() => ({ status: 200, body: 'x'.repeat(1_100_000) }));
    const { structuredContent: cut } = await call('fetch_paid', { url: long.origin, ...paidFor });
    expect(cut).toMatchObject({ truncated: true, encoding: 'text', receipt: null });
    expect(cut!.body).toHaveLength(1_048_576);
    const image = await harness.vendor(() => ({
      status: 200,
      headers: { 'content-type': 'image/png' },
      body: 1,
    }));
    const { structuredContent: bytes } = await call('fetch_paid', { url: image.origin, ...paidFor });
    expect(bytes).toMatchObject({ encoding: 'base64', body: Buffer.from('1').toString('base64') });
  });
});
