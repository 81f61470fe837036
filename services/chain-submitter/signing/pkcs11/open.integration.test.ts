import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  incomingPaymentsOver,
  PRICE,
} from '../../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import { outgoingPaymentsOver } from '../../../../test/support/fixtures/chain-submitter/outgoing-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf, transfersOver } from '../../../../test/support/fixtures/chain-submitter/transfers.ts';
import { createSofthsm, hasSofthsm, type Softhsm } from '../../../../test/support/servers/softhsm.ts';

/**
 * Payments whose keys are on a token: none of them is in the environment of the service. The token
 * is removed while work waits for its signature.
 */
const PIN = 'user-pin-4711';
const AMOUNT = 1_000_000n;
let fixture: SubmitterFixture;
let softhsm: Softhsm;
let vendor: Payer;
let environment: Record<string, string>;

const payments = () =>
  outgoingPaymentsOver(
    () => fixture,
    () => vendor,
  );
const incoming = () =>
  incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );

(hasSofthsm ? describe : describe.skip)('keys on a PKCS#11 token', () => {
  beforeAll(async () => {
    fixture = await startSubmitterFixture();
    softhsm = createSofthsm();
    const pinFile = softhsm.createToken('quittance', PIN);
    const { feePayer, delegateAuthorities, mintAuthority } = fixture.keys;
    const keys = { 'fee-payer-1': feePayer, 'authority-1': delegateAuthorities[0]!, funding: mintAuthority };
    for (const [name, { secretKey }] of Object.entries(keys))
      softhsm.importSecretKey('quittance', PIN, name, secretKey);
    environment = {
      ...softhsm.env,
      PKCS11_MODULE: softhsm.modulePath,
      PKCS11_PIN_FILE: pinFile,
      FEE_PAYER_KEYS: '1:pkcs11:token=quittance;object=fee-payer-1',
      DELEGATE_AUTHORITY_KEYS: `1:pkcs11:token=quittance;object=authority-1?x-address=${delegateAuthorities[0]!.address}`,
      FUNDING_AUTHORITY_KEY: 'pkcs11:token=quittance;object=funding',
    };
    vendor = await fixture.payer(1n);
    await payments().fundFacilitator();
  });
  afterAll(async () => {
    await fixture.stop();
    softhsm.remove();
  });

  test('every kind of payment is signed by the token, and waits or is refused without a trace while the token is absent', async () => {
    const { events, outside, admin } = fixture;
    const service = await fixture.start(environment);
    const [payer, buyer, other] = await Promise.all([1, 2, 3].map(() => fixture.payer(5n * AMOUNT)));
    const { prepare, submit } = transfersOver(() => fixture);

    const first = await fixture.settle(payer!, fixture.quote());
    await events.wait(first.settlement_id, 'confirmed');
    const to = Keypair.generate().publicKey;
    const prepared = await prepare(other!, to, AMOUNT);
    const incomingPayment = await incoming().signed(buyer!);
    const outgoing = payments().inputOf(other!);

    softhsm.unplug();
    const second = await fixture.settle(payer!, fixture.quote());
    await until(
      async () => service.output(),
      (output) => /signer unavailable, intent waits/.test(output),
    );
    // A caller gets a 503 that it can repeat.
    expect(await codeOf(submit(prepared))).toBe('service_unavailable');
    expect(await codeOf(incoming().submit(incomingPayment))).toBe('service_unavailable');
    expect(await codeOf(payments().sign(outgoing))).toBe('service_unavailable');
    // Nothing was signed, and no part of a cap is used by what was not signed.
    const { rows } = await admin.query('select kind, status, signature from intents where signature is null');
    expect(rows).toEqual([{ kind: 'settle', status: 'accepted', signature: null }]);
    expect(events.names(second.settlement_id)).toEqual([]);
    softhsm.plug();

    await events.wait(second.settlement_id, 'confirmed');
    await submit(prepared);
    await events.wait(prepared.id, 'confirmed');
    expect((await incoming().submit(incomingPayment)).outcome).toBe('submitted');
    expect((await payments().sign(outgoing)).outcome).toBe('signed');
    expect(await outside.balance(payer!.owner.publicKey)).toBe(3n * AMOUNT);
    expect(await outside.balance(to)).toBe(AMOUNT);
    await until(
      () => outside.balance(buyer!.owner.publicKey),
      (balance) => balance === 5n * AMOUNT - PRICE,
    );
    const generations = await admin.query('select max(generation)::int as most from transactions');
    expect(generations.rows).toEqual([{ most: 1 }]);
    expect(service.output()).not.toContain(PIN);
    await service.stop();
  });

  test('a token that is absent for long uses up no cap: the payments that waited are signed', async () => {
    const { events } = fixture;
    // The cap is that of two payments.
    const service = await fixture.start({ ...environment, WALLET_HOURLY_CAP_MICRO: String(2n * AMOUNT) });
    const payer = await fixture.payer(5n * AMOUNT);
    softhsm.unplug();
    const job = await fixture.settle(payer, fixture.quote({ amount: AMOUNT }));
    const count = () => service.output().split('signer unavailable, intent waits').length - 1;
    await until(
      async () => count(),
      (times) => times >= 4,
    );
    softhsm.plug();
    await events.wait(job.settlement_id, 'confirmed');
    const next = await fixture.settle(payer, fixture.quote({ amount: AMOUNT }));
    await events.wait(next.settlement_id, 'confirmed');
    await service.stop();
  });

  test.each([
    ['the module', { PKCS11_MODULE: '/nowhere.so' }, /module \/nowhere\.so cannot be loaded/],
    [
      'the key',
      { FEE_PAYER_KEYS: '1:pkcs11:token=quittance;object=x' },
      /no private key token=quittance;object=x/,
    ],
    ['the token', { FEE_PAYER_KEYS: '1:pkcs11:token=x;object=x' }, /No token is token=x/],
    ['a setting', { PKCS11_PIN_FILE: 'pin' }, /PKCS11_PIN_FILE: must be an absolute path/],
    [
      'two settings with one key',
      { FEE_PAYER_KEYS: '1:pkcs11:token=quittance;object=funding' },
      /Two configured keys are the key/,
    ],
  ])('the service ends with 78 when %s is wrong', async (_what, change, expected) => {
    const failure = await fixture.start({ ...environment, ...change }).catch((error: Error) => error.message);
    expect(failure).toMatch(/ended with 78/);
    expect(failure).toMatch(expected);
    expect(failure).not.toContain(PIN);
  });
});
