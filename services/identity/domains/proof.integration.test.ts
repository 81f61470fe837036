import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/fixtures/identity.ts';

/** Domains of services over a real database and a real name server on loopback. */
let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());
beforeEach(() => running.names.fail(0));

const HOUR = 3600;
type Owner = Principal & { kind: 'jwt' };
const refused = (code: string) => ({ name: 'ServiceError', code });
let made = 0;
const newDomain = () => {
  made += 1;
  return `shop-${made}.example.com`;
};
const signedIn = async (): Promise<Owner> => callerOf(await running.signIn());
const claim = async (domain: string, by?: Owner) => {
  const owner = by ?? (await signedIn());
  const body = { name: 'Weather', price: '2500000', payout_address: PAYOUT };
  const { service_id } = await running.ask('createService', body, owner);
  const set = (name: string | null) => running.ask('updateService', { service_id, domain: name }, owner);
  const check = async () => (await running.ask('checkServiceDomain', { service_id }, owner)).domain;
  const read = async () => (await running.findService(service_id))!.domain;
  const claimed = (await set(domain)).domain!;
  return { service_id, set, check, read, claimed };
};
/** Its owner writes the record. */
const prove = ({ name, value }: { name: string; value: string }) => running.names.set(name, value);

test('a domain is shown to nobody until its DNS names the service, and then quotes have it', async () => {
  const domain = newDomain();
  const { service_id, check, read, claimed } = await claim(domain);
  const record = { type: 'TXT', name: `_quittance.${domain}`, value: `quittance-service=${service_id}` };
  const unproven = { name: domain, display_name: domain, status: 'unproven', record, verified_at: null };
  expect(claimed).toEqual({ ...unproven, problem: null, checked_at: null });
  const checked_at = expect.any(String);
  expect(await check()).toEqual({ ...unproven, problem: 'record_missing', checked_at });
  running.names.set(record.name, 'v=spf1 -all', `quittance-service=${crypto.randomUUID()}`);
  expect(await check()).toEqual({ ...unproven, problem: 'record_differs', checked_at });
  // A record may have other values, and long ones come in parts.
  running.names.set(record.name, 'x'.repeat(400), record.value);
  const proven = await check();
  expect(proven).toEqual({ ...claimed, status: 'verified', verified_at: checked_at, checked_at });
  expect(await read()).toEqual(proven);
  expect(new Set(running.names.asked.filter((name) => name.endsWith(domain)))).toEqual(
    new Set([record.name]),
  );
});

test('two services that claim one domain are proven apart', async () => {
  const domain = newDomain();
  const [vendor, thief] = [await claim(domain), await claim(domain)];
  prove(vendor.claimed.record);
  expect(await vendor.check()).toMatchObject({ status: 'verified' });
  expect(await thief.check()).toMatchObject({ status: 'unproven', problem: 'record_differs' });
  // The owner of the domain may have both.
  running.names.set(vendor.claimed.record.name, vendor.claimed.record.value, thief.claimed.record.value);
  expect(await thief.check()).toMatchObject({ status: 'verified' });
});

test('another domain begins without proof, the same one keeps it, and none has none', async () => {
  const [domain, other] = [newDomain(), newDomain()];
  const { set, check, claimed, read } = await claim(domain);
  prove(claimed.record);
  const proven = await check();
  expect((await set(domain.toUpperCase())).domain).toEqual(proven);
  expect((await set(other)).domain).toMatchObject({ name: other, status: 'unproven', verified_at: null });
  expect((await set(domain)).domain).toMatchObject({ name: domain, status: 'unproven', verified_at: null });
  expect((await set(null)).domain).toBeNull();
  expect(await read()).toBeNull();
  await expect(check()).rejects.toMatchObject(refused('conflict'));
});

test('a proof that is gone is shown no more, as soon as the job has looked', async () => {
  const { check, claimed, read } = await claim(newDomain());
  prove(claimed.record);
  await check();
  running.names.set(claimed.record.name);
  // It was just looked for.
  await running.recheckDomains();
  await running.passSeconds(6 * HOUR);
  expect(await read()).toMatchObject({ status: 'verified' });
  await running.recheckDomains();
  expect(await read()).toMatchObject({ status: 'unproven', problem: 'record_missing', verified_at: null });
  prove(claimed.record);
  await running.passSeconds(6 * HOUR);
  await running.recheckDomains();
  expect(await read()).toMatchObject({ status: 'verified', problem: null });
});

test('name servers that fail end no proof before it is too old, and begin none', async () => {
  const { check, claimed, read } = await claim(newDomain());
  running.names.fail(2);
  expect(await check()).toMatchObject({ status: 'unproven', problem: 'no_answer' });
  running.names.fail(0);
  prove(claimed.record);
  const { verified_at } = (await check())!;
  running.names.fail(5);
  expect(await check()).toMatchObject({ status: 'verified', problem: 'no_answer', verified_at });
  await running.passSeconds(71 * HOUR);
  await running.recheckDomains();
  expect(await read()).toMatchObject({ status: 'verified', problem: 'no_answer', verified_at });
  await running.passSeconds(HOUR);
  expect(await read()).toMatchObject({ status: 'unproven', verified_at: null });
});

test('many checks at once of two replicas look for each domain once', async () => {
  const owner = await signedIn();
  const claims = await Promise.all(Array.from({ length: 30 }, () => claim(newDomain(), owner)));
  for (const { claimed } of claims) prove(claimed.record);
  await running.passSeconds(6 * HOUR);
  running.names.asked.length = 0;
  while (!(await Promise.all(claims.map(({ read }) => read()))).every((it) => it?.status === 'verified'))
    await Promise.all([running.recheckDomains(), running.recheckDomains()]);
  for (const { claimed } of claims)
    expect(running.names.asked.filter((name) => name === claimed.record.name)).toHaveLength(1);
});

test.each([
  ...['localhost', '127.0.0.1', '[::1]', 'db.internal', 'kubernetes.default.svc.cluster.local', 'com'],
  ...['https://example.com', 'example.com/shop', 'example.com:8080', 'a@example.com', '_x.example.com'],
])('%s is no domain of a service', async (domain) => {
  await expect(claim(domain)).rejects.toMatchObject(refused('validation_error'));
});

test('letters that look like others are shown as xn--', async () => {
  const { claimed } = await claim('аррӏе.com');
  expect(claimed).toMatchObject({ name: 'xn--80ak6aa92e.com', display_name: 'xn--80ak6aa92e.com' });
  const clear = await claim('Münchner-Weg.de');
  expect(clear.claimed).toMatchObject({
    name: 'xn--mnchner-weg-thb.de',
    display_name: 'münchner-weg.de',
    record: { name: '_quittance.xn--mnchner-weg-thb.de' },
  });
});

test('the domain of another account is neither set nor checked', async () => {
  const [{ service_id }, other] = [await claim(newDomain()), callerOf(await running.signIn())];
  const asked = running.names.asked.length;
  await expect(running.ask('checkServiceDomain', { service_id }, other)).rejects.toMatchObject(
    refused('not_found'),
  );
  await expect(
    running.ask('updateService', { service_id, domain: newDomain() }, other),
  ).rejects.toMatchObject(refused('not_found'));
  expect(running.names.asked).toHaveLength(asked);
});
