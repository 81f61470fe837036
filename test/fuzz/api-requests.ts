import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import fc from 'fast-check';
import { readBearer } from '../../services/gateway/credentials/bearer.ts';
import { readCookie } from '../../services/gateway/credentials/cookies.ts';
import { parseBody } from '../../services/gateway/http/body.ts';
import { idempotencyKeyOf } from '../../services/gateway/http/input.ts';
import { originOf } from '../../services/gateway/http/proxies.ts';
import { acceptsCoding } from '../../services/gateway/pages/content-coding.ts';
import { readX402Request } from '../../services/settlement/incoming/model/x402-request.ts';
import { readOrder } from '../../services/settlement/outgoing/model/order.ts';
import { parseInput } from '../../shared/bus/serve.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { readsOf } from '../../shared/db/reads.ts';
import { addressGroup, parseAddress } from '../../shared/lib/chain/address.ts';
import { rawPublicKey } from '../../shared/lib/chain/ed25519.ts';
import { newId } from '../../shared/lib/id.ts';
import { signAccessToken, verifyAccessToken } from '../../shared/lib/tokens/access-token.ts';
import { unverifiedClaims, verifyToken } from '../../shared/lib/tokens/compact-token.ts';
import { createKeyText, parseKeyText } from '../../shared/lib/tokens/key-text.ts';
import { PublicKeyList } from '../../shared/lib/tokens/keys.ts';
import { packToken, unpackToken } from '../../shared/lib/tokens/packed-token.ts';
import { listHandler, ofAccount } from '../../shared/lists/list.ts';
import { requirement, SIGNERS, tokenFor } from '../support/stand-ins/scripted-vendors.ts';
import { anyOrChanged, changedFields, changedJson, changedText } from './mutations.ts';
import { bodiedOperations } from './operations.ts';
import { hold, refusing, refusingAsync, type Target, target } from './target.ts';

/** What callers send to the API: credentials, headers, bodies, tokens and cursors. */

const session = { kid: 'test.session.1', key: SIGNERS.quote.key };
const published = [SIGNERS.quote, SIGNERS.settlement, session].map(({ kid, key }) => ({
  kid,
  x: Buffer.from(rawPublicKey(key)).toString('base64url'),
}));
const keys = PublicKeyList.parse(JSON.stringify(published));
const NOW = Date.now();
const accessToken = await signAccessToken(
  { accountId: newId('acct'), sessionId: 's', environment: 'test', amr: ['email'], authTime: 1, now: NOW },
  session,
);
const token = tokenFor('https://shop.example.com/a');
const keyText = createKeyText('vendor_test_');

const HOPS = 2;
const originWith = (forwarded: string, remoteAddress: string): string => {
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } as Socket };
  return originOf(request as unknown as IncomingMessage, HOPS).address;
};
const addresses = fc
  .array(
    anyOrChanged(
      fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.1.2.3', '[2001:db8::1]:80', '::ffff:10.0.0.1')),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(', '));

type Entry = { id: string };
const listEntries = listHandler(
  { reads: readsOf(null as never), cursorKeys: [Buffer.alloc(32, 1)] },
  'entries',
  {
    scope: (_filters: object, caller: { account_id: string }) => ofAccount({}, caller),
    rows: async (_db, _scope, { before, limit }: { before: string | null; limit: number }) =>
      Array.from({ length: limit + 1 }, (_, index): Entry => ({ id: `${before ?? ''}${index}`.slice(-20) })),
    place: ({ id }: Entry) => id,
    show: (rows: readonly Entry[]) => [...rows],
  },
);
const CALLER = { account_id: 'acct_1' };
const { next_cursor: cursor } = await listEntries({ limit: '2' }, CALLER);

const external = {
  payment_attempt_id: 'attempt-1',
  resource: 'https://shop.example.com/a',
  requirement: requirement(),
};
const x402 = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: requirement(),
    payload: { transaction: 'AQID' },
    resource: { url: 'https://shop.example.com/a' },
    extensions: { 'payment-identifier': { info: { id: 'order-0123456789' } } },
  },
  paymentRequirements: requirement(),
};
const { network, asset: mint, payTo } = requirement();
const terms = { network, mint, payTo, feePayers: null };
const { payExternal, x402Settle } = settlement.operations;

const credentialTargets = (): Target[] => [
  target(
    'api: Authorization',
    anyOrChanged(fc.constantFrom(...[keyText, accessToken, token].map((text) => `Bearer ${text}`))),
    (value) => {
      const bearer = readBearer(['Host', 'a', 'Authorization', value]);
      if (bearer.kind === 'none') hold(!bearer.refusal.includes(keyText), 'a refusal repeats the key');
    },
  ),
  target('api: text of a key', anyOrChanged(fc.constant(keyText)), (text) => {
    const parsed = parseKeyText(text);
    hold(parsed === null || text === keyText || text.length === keyText.length, 'a key of another length');
  }),
  target('api: access tokens', anyOrChanged(fc.constant(accessToken)), async (text) => {
    const access = await verifyAccessToken(text, { keys, now: NOW });
    hold('expiredAt' in access || text === accessToken, 'a changed access token was accepted');
  }),
  target('api: quote tokens', anyOrChanged(fc.constant(token)), (text) => {
    unverifiedClaims('quote', text);
    const claims = refusing([ServiceError], () => verifyToken('quote', text, { env: 'test', keys }));
    hold(claims === null || text === token, 'a changed token was accepted');
  }),
  target(
    'api: signed quote tokens with other claims',
    changedFields(fc.constant({ quote_amount: '1', scope: { a: 1 }, expires_at: 'x' })).map((claims) =>
      tokenFor('https://shop.example.com/a', claims as object),
    ),
    (text) => refusing([ServiceError], () => verifyToken('quote', text, { env: 'test', keys })),
  ),
  target('api: packed tokens', anyOrChanged(fc.constant(token)), (text) => {
    // A lone surrogate is no UTF-8, and a body with one is refused before.
    if (text.isWellFormed()) hold(unpackToken(packToken(text)) === text, 'a packed token is another one');
  }),
];

const headerTargets = (): Target[] => [
  target(
    'api: X-Forwarded-For',
    fc.tuple(addresses, fc.constantFrom('10.0.0.1', '203.0.113.7', '2001:db8::9', '')),
    ([forwarded, peer]) => {
      const address = originWith(forwarded, peer);
      hold(address === 'unknown' || isIP(address) !== 0, 'an origin that is no address');
      hold(addressGroup(addressGroup(address)).length <= 64, 'a group of any length');
    },
  ),
  target('api: addresses', anyOrChanged(fc.oneof(fc.ipV4(), fc.ipV6())), (text) => {
    const address = parseAddress(text);
    hold(address === null || parseAddress(address) === address, 'an address with two normal forms');
  }),
  target(
    'api: cookies',
    anyOrChanged(fc.constant('__Host-quittance_refresh=rt_test_a; a=b; __Host-x="c"')),
    (cookie) => readCookie({ headers: { cookie } } as never, '__Host-quittance_refresh'),
  ),
  target('api: Accept-Encoding', anyOrChanged(fc.constant('br;q=1.0, gzip; q=0, *;q=0')), (text) =>
    acceptsCoding('br', text),
  ),
  target('api: Idempotency-Key', anyOrChanged(fc.uuid()), (value) => {
    const operation = { idempotency: true } as never;
    const request = { headers: { 'idempotency-key': value } } as never;
    const key = refusing([ServiceError], () => idempotencyKeyOf(operation, request));
    hold(key === null || key === undefined || /^[\x21-\x7e]{1,255}$/.test(key), 'a key of other characters');
  }),
  target('api: cursors', anyOrChanged(fc.constant(cursor!)), async (text) => {
    const page = await refusingAsync([ServiceError], () => listEntries({ cursor: text }, CALLER));
    hold(page === null || text === cursor, 'a changed cursor was accepted');
  }),
];

const bodyTargets = (): Target[] => [
  target(
    'api: JSON bodies',
    changedJson(fc.constant({ service_id: 'a', scope: { a: [1, { b: '"c":' }] }, expires_in_seconds: 9 })),
    (text) => {
      const body = refusing([ServiceError], () => parseBody(Buffer.from(text)));
      if (body !== null) hold(!Object.hasOwn(body, '__proto__'), 'a body with a prototype');
    },
  ),
  target('api: JSON bodies as bytes', changedText(fc.constant('{"a":"ü","b":[1e400]}')), (text) =>
    refusing([ServiceError], () => parseBody(Buffer.from(text, 'latin1'))),
  ),
  target(
    'api: body of any operation',
    fc
      .constantFrom(...bodiedOperations)
      .chain(({ id, operation, body }) =>
        changedFields(fc.constant(body)).map((changed) => ({ id, operation, changed })),
      ),
    ({ operation, changed }) => refusing([ServiceError], () => parseInput(operation.body, changed)),
  ),
  target('api: body of POST /v1/payments', changedFields(fc.constant(external)), (body) =>
    refusing([ServiceError], () => readOrder(parseInput(payExternal.body, body) as never, { network, mint })),
  ),
  target('api: body of POST /v1/x402/settle', changedFields(fc.constant(x402)), (body) =>
    refusing([ServiceError], () => readX402Request(parseInput(x402Settle.input, body) as never, terms)),
  ),
];

export const apiTargets = (): Target[] => [...credentialTargets(), ...headerTargets(), ...bodyTargets()];
