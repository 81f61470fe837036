import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isoTime } from '../../../shared/lib/clock.ts';
import { ANY_PAYEE, payOut, RESOURCE } from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  base,
  delegateOf,
  outcome,
  startFixture,
  stopFixture,
  testBus,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { publishEvent } from '../../../test/support/servers/publish.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const WITHOUT_QUERY = RESOURCE.split('?')[0];

const resourcesOf = async ({ account_id }: { account_id: string }): Promise<string[]> => {
  const { rows } = await admin.query<{ resource: string }>(
    `select resource from outgoing_payments where account_id = $1
     union all select resource from approvals where account_id = $1`,
    [account_id],
  );
  return rows.map(({ resource }) => resource);
};

test('an erased account keeps its payments and approvals without the queries of their addresses', async () => {
  const [leaving, staying] = [consumer(), consumer()];
  for (const payer of [leaving, staying]) {
    await payOut(payer);
    const asking = await delegateOf(payer, {}, null, { ...ANY_PAYEE, approval_above: '1' });
    expect(await outcome(payOut(asking))).toBe('approval_required');
  }
  const event = { account_id: leaving.account_id, at: isoTime(base.clock.now()) };
  await publishEvent(await testBus.as('identity'), 'identity.accountErased', event);
  expect(
    await until(
      () => resourcesOf(leaving),
      (all) => !all.includes(RESOURCE),
    ),
  ).toEqual([WITHOUT_QUERY, WITHOUT_QUERY]);
  expect(await resourcesOf(staying)).toEqual([RESOURCE, RESOURCE]);
});
