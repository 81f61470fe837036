import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { startPageVendor } from '../support/browser/paying-page.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';
import { startNameServer } from '../support/stand-ins/name-server.ts';

/** A vendor proves a domain in the console, and buyers see it where they pay, in real Chromium. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const { opened } = consoleSuite(stack, { except: /^foreign: http:\/\/127\.0\.0\.1:\d+\/(report|pay)/ });

let names: Awaited<ReturnType<typeof startNameServer>>;
let vendor: Vendor;
let shop: Awaited<ReturnType<typeof startPageVendor>>;
beforeAll(async () => {
  names = await startNameServer(Number(process.env.NAME_SERVER_PORT));
  vendor = await createVendor(api, stack, { price: 50_000n, name: 'City tours' });
  await must(api('GET /v1/settlements/foreign/terms', { token: vendor.apiKey }), 'terms');
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(vendor.payout.publicKey)),
    (account) => account !== null,
  );
  shop = await startPageVendor(stack, vendor, {});
});
afterAll(async () => {
  await shop?.stop();
  await names?.close();
});

const newDomain = () => `shop-${crypto.randomUUID().slice(0, 8)}.example.com`;
/** A service of somebody who is signed in, with a payment link. */
const newService = async () => {
  const person = await signInPerson(stack);
  const { token } = person;
  const { service_id } = await must(
    api<{ service_id: string }>('POST /v1/services', {
      token,
      body: { name: 'Harbour tours', price: '50000', payout_address: vendor.payout.publicKey.toBase58() },
    }),
    'service',
  );
  const { url } = await must(
    api<{ url: string }>('POST /v1/payment-links', { token, body: { service_id, title: 'Tour' } }),
    'link',
  );
  return { person, service_id, url };
};

test('a domain is claimed, checked in vain, proven and checked, and the pay page shows it then and not before', async () => {
  const { person, service_id, url } = await newService();
  const domain = newDomain();
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  // As people paste it.
  await page.page.getByLabel('Domain', { exact: true }).fill(`https://${domain}/tours?x=1`);
  await page.page.getByRole('button', { name: 'Add domain' }).click();
  await page.page.getByText('Buyers do not see the domain before.').waitFor();
  const copied = (label: string) =>
    page.copied(page.page.getByRole('button', { name: new RegExp(`Copy.*${label}`, 'i') }));
  const name = await copied('name of the record');
  const value = await copied('value of the record');
  expect([name, value]).toEqual([`_quittance.${domain}`, `quittance-service=${service_id}`]);
  await page.page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.page.getByText('The record is not there yet.').waitFor();
  await page.shoot('domain-missing');
  expect(await page.findings()).toEqual([]);

  const buyer = await opened({ width: 'phone' });
  await buyer.page.goto(url);
  await buyer.page.getByRole('heading', { name: 'Harbour tours', level: 1 }).waitFor();
  await buyer.page.getByText('Paid to', { exact: true }).waitFor();
  expect(await buyer.page.getByText(domain).count()).toBe(0);
  expect(await buyer.page.getByText('verified domain').count()).toBe(0);

  names.set(name, 'quittance-service=other');
  await page.page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.page.getByText('There is a record of this name with another value.').waitFor();
  names.set(name, 'quittance-service=other', value);
  await page.page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.page.getByText('Buyers see this domain as verified.').waitFor();
  await page.shoot('domain-verified');
  expect(await page.findings()).toEqual([]);

  await waitFor(
    async () => {
      await buyer.page.reload();
      await buyer.page.getByText('Paid to', { exact: true }).waitFor();
      return buyer.page.getByText('verified domain').count();
    },
    (count) => count === 1,
  );
  await buyer.page.getByText(domain, { exact: true }).waitFor();
  await buyer.shoot('domain-pay');
  expect(await buyer.findings()).toEqual([]);
  expect(await buyer.wider()).toEqual([]);

  await page.page.getByRole('button', { name: 'Remove domain' }).click();
  await page.page.getByLabel('Domain', { exact: true }).waitFor();
  await waitFor(
    async () => {
      await buyer.page.reload();
      await buyer.page.getByText('Paid to', { exact: true }).waitFor();
      return buyer.page.getByText(domain).count();
    },
    (count) => count === 0,
  );
});

test('name servers that do not answer, and a text that is no domain, are told apart from a missing record', async () => {
  const { person, service_id } = await newService();
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  const field = page.page.getByLabel('Domain', { exact: true });
  await page.page.getByRole('button', { name: 'Add domain' }).click();
  await page.page.getByText('Enter a domain.').waitFor();
  await field.fill('localhost');
  await page.page.getByRole('button', { name: 'Add domain' }).click();
  await page.page.getByText('must be a public domain like shop.example.com').waitFor();
  const domain = newDomain();
  await field.fill(domain);
  await page.page.getByRole('button', { name: 'Add domain' }).click();
  names.fail(5);
  try {
    await page.page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.page.getByText(`The name servers of ${domain} did not answer.`).waitFor();
  } finally {
    names.fail(0);
  }
});

test('a look-alike is shown as xn--, and a name with its own letters has both forms', async () => {
  const { person, service_id, url } = await newService();
  const prove = async (domain: string) => {
    const set = await must(
      api<{ domain: { record: { name: string; value: string } } }>(`PATCH /v1/services/${service_id}`, {
        token: person.token,
        body: { domain },
      }),
      'set',
    );
    names.set(set.domain.record.name, set.domain.record.value);
    await must(api(`POST /v1/services/${service_id}/domain/check`, { token: person.token }), 'check');
  };
  const page = await opened();
  const shown = async (text: string) =>
    waitFor(
      async () => {
        await page.page.goto(url);
        await page.page.getByText('Paid to', { exact: true }).waitFor();
        return page.page.getByText(text, { exact: true }).count();
      },
      (count) => count === 1,
    );
  await prove('аррӏе.com');
  await shown('xn--80ak6aa92e.com');
  expect(await page.page.getByText('аррӏе').count()).toBe(0);
  await prove('münchner-weg.de');
  await shown('münchner-weg.de');
  await page.page.getByText('xn--mnchner-weg-thb.de', { exact: true }).waitFor();
  await page.shoot('domain-letters');
});

test('at a vendor of the README the domain is large, and the host that the payment returns to is not taken for it', async () => {
  const page = await opened();
  await page.page.goto(shop.url);
  await page.page.getByRole('heading', { name: 'City tours', level: 1 }).waitFor();
  const { host } = new URL(shop.url);
  await page.page.getByText('Returns to').waitFor();
  await page.page.getByText(host, { exact: true }).waitFor();
  expect(await page.page.getByText('verified domain').count()).toBe(0);
  await page.shoot('domain-none');
});
