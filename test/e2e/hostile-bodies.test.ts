import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createApi } from '../../deploy/local/seed/api.ts';
import { ERRORS } from '../../shared/contract/errors.ts';
import { changedJson } from '../fuzz/mutations.ts';
import { type Bodied, bodiedOperations } from '../fuzz/operations.ts';
import { createTenant, type Tenant } from '../support/actors/tenants.ts';
import { waitFor } from '../support/base/wait.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Almost valid bodies of every operation, sent to the real services: what a schema accepts, a
 * handler or a table may still refuse. No answer is a fault of the server. `npm run prove -- fuzz`
 * sends more of them to the parsers alone.
 */
const SEED = 20_261_127;
/** Per operation. Fewer where the limit of the operation is lower. */
const BODIES = 25;
/** They would end the credential that the other operations need. */
const ENDS_THE_CREDENTIAL = new Set(['identity.logout', 'identity.closeAccount']);

const stack = runningStack();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(createApi(stack.gateway_url), stack, 'test');
});

/** The example with the ids and tokens of objects that exist, so that the handler goes on. */
const existing = (body: Record<string, unknown>): Record<string, unknown> => {
  const { objects, quoteToken, settlementToken } = tenant;
  const known: Record<string, string> = {
    ...objects,
    quote_token: quoteToken,
    settlement_token: settlementToken,
  };
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? (known[name] ?? value) : value,
    ]),
  );
};

const pathOf = ({ operation: { http } }: Bodied): string =>
  http.path.replace(/:(\w+)/g, (_all, name: string) => {
    const others: Record<string, string> = { provider: 'moonpay', environment: 'test' };
    return (tenant.objects as Record<string, string>)[name] ?? others[name] ?? 'x';
  });

const send = async (bodied: Bodied, text: string): Promise<{ status: number; text: string }> => {
  const { access, http } = bodied.operation;
  const token = access[0] === undefined ? undefined : tenant.credentials[access[0]];
  const response = await fetch(`${stack.gateway_url}${pathOf(bodied)}`, {
    method: http.method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: text,
  });
  return { status: response.status, text: await response.text() };
};

const countOf = ({ operation: { limits } }: Bodied): number =>
  Math.min(BODIES, ...limits.map(({ points }) => points));

/** These end keys and services that the others need, so they are last. */
const isLast = ({ id }: Bodied): number => Number(/\.(rotate|delete)/.test(id));
const cases = bodiedOperations
  .filter(({ id }) => !ENDS_THE_CREDENTIAL.has(id))
  .toSorted((one, other) => isLast(one) - isLast(other));

test.each(cases.map((bodied) => [bodied.id, bodied] as const))('%s', async (_id, bodied) => {
  const texts = fc.sample(changedJson(fc.constant(existing(bodied.body))), {
    seed: SEED,
    numRuns: countOf(bodied),
  });
  for (const text of texts) {
    // 503 asks for a repeat: a part of the stack does not answer on a busy machine.
    const answer = await waitFor(
      () => send(bodied, text),
      ({ status }) => status !== 503,
      60_000,
    );
    if (answer.status >= 500) throw new Error(`${answer.status} for ${text.slice(0, 2000)}: ${answer.text}`);
    if (answer.status < 400) continue;
    const { error } = JSON.parse(answer.text) as { error: { code: string } };
    expect(Object.keys(ERRORS)).toContain(error.code);
  }
});
