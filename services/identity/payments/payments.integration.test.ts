import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '../../../shared/db/pool.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { day, moment } from '../mailer/mail-text.ts';
import { claimMails, insertNotice, insertSignInMail, purgeHandledEvents } from '../mails/store.ts';
import { purgeSpendingDays } from './store.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
  await toNoon();
});
afterAll(() => running.stop());

const DAY = 86_400;
/** Moves the clock to the next noon UTC, so that no test crosses midnight. */
const toNoon = () => running.passSeconds(DAY - (((running.now() / 1000) % DAY) - DAY / 2));
const hoursAgo = (hours: number) => new Date(running.now() - hours * 3600_000).toISOString();

type Owner = Awaited<ReturnType<typeof newOwner>>;
const newOwner = async (settings: object = {}) => {
  const session = await running.signIn();
  const change = (body: object) => running.ask('updateSettings', body, callerOf(session));
  await change(settings);
  const { account_id, email } = session.account;
  return { session, account_id, email, change };
};
const serviceOf = async ({ session }: Owner, name: string): Promise<string> =>
  (await running.ask('createService', { name, price: '20000', payout_address: PAYOUT }, callerOf(session)))
    .service_id;
const delegateOf = async ({ session, account_id }: Owner, name: string): Promise<string> => {
  const body = { name, wallet_id: running.newWallet(account_id), limits: {} };
  return (await running.ask('createDelegate', body, callerOf(session))).delegate_id;
};

/** A current payment between unknown accounts, unless `more` names others. */
const payment = (more: object = {}) => ({
  settlement_id: newId('stl'),
  quote_id: newId('q'),
  tx_hash: '5'.repeat(80),
  account_id: newId('acct'),
  delegate_id: null,
  wallet_id: newId('wal'),
  rail: 'quittance',
  scope: null,
  payer_address: null,
  service_id: newServiceId(),
  vendor_account_id: newId('acct'),
  quote_amount: '1000000',
  fee_amount: '10000',
  issued_at: hoursAgo(0),
  ...more,
});
/** Publishes events at the same time, and waits until they are handled and mailed. */
const publish = async (...events: object[]) => {
  await Promise.all(events.map((event) => running.publish(event)));
  await running.allHandledAndMailed();
};
const mailsOf = ({ email }: Owner, subject: RegExp) =>
  running.smtp.mailsTo(email).filter((mail) => subject.test(mail.subject));
const MADE = /^You made a payment/;
const RECEIVED = /^You received a payment/;
const ALERT = /^Your daily spending exceeds/;
const spentOf = async ({ account_id }: Owner): Promise<string[]> => {
  const { rows } = await running.admin.query<{ spent: string }>(
    'select spent::text from identity.spending_days where account_id = $1 order by day',
    [account_id],
  );
  return rows.map(({ spent }) => spent);
};

describe('mail_payments', () => {
  test('payer and vendor each get the fields that they may see, and names are plain text', async () => {
    const [payer, vendor] = [
      await newOwner({ mail_payments: true }),
      await newOwner({ mail_payments: true }),
    ];
    const service_id = await serviceOf(vendor, '<b>Weather</b> & "more"');
    const delegate_id = await delegateOf(payer, '<i>Robot</i>');
    const event = payment({
      account_id: payer.account_id,
      vendor_account_id: vendor.account_id,
      service_id,
      delegate_id,
      quote_amount: '2500000',
      fee_amount: '12500',
    });
    await publish(event);
    const [made] = mailsOf(payer, MADE);
    for (const part of [
      `At ${moment(event.issued_at, new Date())} your account paid 2.50 USDC to the service “<b>Weather</b> & "more"” (${service_id})`,
      'by the agent “<i>Robot</i>”.',
      event.settlement_id,
      'turn off e-mails about payments',
      'Test mode',
    ])
      expect(made!.text).toContain(part);
    const [received] = mailsOf(vendor, RECEIVED);
    expect(received!.text).toContain(
      `“<b>Weather</b> & "more"” (${service_id}) was paid 2.50 USDC. You receive 2.4875 USDC; the fee is 0.0125 USDC.`,
    );
    for (const { html } of [made!, received!]) {
      expect(html).not.toMatch(/<[bi][ >]/);
      expect(html).toContain('&#60;b&#62;Weather');
    }
    for (const secret of [payer.account_id, payer.email, delegate_id, 'Robot', event.wallet_id])
      expect(received!.raw).not.toContain(secret);
    expect([mailsOf(payer, RECEIVED), mailsOf(vendor, MADE)]).toEqual([[], []]);
  });

  test('unknown names are left out, and an account whose setting is off gets no mail', async () => {
    const [payer, quiet] = [await newOwner({ mail_payments: true }), await newOwner()];
    const ids = { account_id: payer.account_id, delegate_id: newId('del') };
    const event = payment({ ...ids, vendor_account_id: quiet.account_id });
    await publish(event, payment({ account_id: quiet.account_id, vendor_account_id: payer.account_id }));
    const [made] = mailsOf(payer, MADE);
    expect(made!.text).toContain(
      `paid 1.00 USDC to the service (${event.service_id}), by the agent (${ids.delegate_id}).`,
    );
    expect([mailsOf(payer, RECEIVED).length, mailsOf(quiet, MADE), mailsOf(quiet, RECEIVED)]).toEqual([
      1,
      [],
      [],
    ]);
  });

  test('an event that is published 64 times and again later is mailed and counted once', async () => {
    const payer = await newOwner({ mail_payments: true });
    const event = payment({ account_id: payer.account_id });
    await publish(...Array.from({ length: 64 }, () => event));
    await running.passSeconds(3600);
    // Only the id decides that an event is a repeat.
    await publish(event, { ...event, quote_amount: '5' });
    expect([mailsOf(payer, MADE).length, await spentOf(payer)]).toEqual([1, ['1000000']]);
  });

  test('64 concurrent payments get one mail each', async () => {
    const payer = await newOwner({ mail_payments: true });
    const events = Array.from({ length: 64 }, () => payment({ account_id: payer.account_id }));
    await publish(...events, ...events);
    const texts = mailsOf(payer, MADE).map(({ text }) => text);
    expect(texts).toHaveLength(64);
    for (const { settlement_id } of events) expect(texts.join()).toContain(settlement_id);
  });

  test('each payment is mailed, whatever the order of its events', async () => {
    const payer = await newOwner({ mail_payments: true });
    const of = (hours: number) => payment({ account_id: payer.account_id, issued_at: hoursAgo(hours) });
    const [first, second, third] = [of(3), of(2), of(1)];
    const { issued_at: _, tx_hash: __, ...about } = first;
    await running.publish({ ...about, redeemed: false }, 'reversed');
    await publish(third);
    await publish(first);
    await running.publish(about, 'accepted');
    await publish(second, third);
    expect([mailsOf(payer, MADE).length, await spentOf(payer)]).toEqual([3, ['3000000']]);
  });

  test('an event without a required field is quarantined and not recorded', async () => {
    const { settlement_id, quote_id, tx_hash } = payment();
    await publish({ settlement_id, quote_id, tx_hash });
    await publish({ ...payment(), quote_amount: undefined });
    expect(await running.count('quarantine')).toBe(2);
    expect(await running.count('handled_events', `event_key = '${settlement_id}'`)).toBe(0);
  });

  test('a mail with a link is claimed before mails about payments', async () => {
    const payer = await newOwner({ mail_payments: true });
    await running.linkFor(payer.email);
    const undo = new Error('undo');
    const kinds: string[] = [];
    // In an open transaction, so that the running sweep does not claim them.
    const work = running.deps.pool.transaction(async (tx) => {
      for (let i = 0; i < 20; i += 1) {
        const notice = { account_id: payer.account_id, kind: 'payment_made', details: {} };
        await insertNotice(tx, notice);
      }
      const { rows } = await running.admin.query(
        'select link_id from identity.login_links where email = $1',
        [payer.email],
      );
      await insertSignInMail(tx, { to_address: payer.email, link_id: rows[0].link_id });
      await tx.query(sql.typeAlias('void')`
        update mails set next_attempt_at = app_now() - interval '1 minute' where kind = 'payment_made'`);
      kinds.push(...(await claimMails(tx, 1)).map(({ kind }) => kind));
      throw undo;
    });
    await expect(work).rejects.toBe(undo);
    expect(kinds).toEqual(['sign_in']);
  });
});

describe('spending_alert_threshold', () => {
  const alerts = (payer: Owner) => mailsOf(payer, ALERT).length;
  const pay = ({ account_id }: Owner, quote_amount: string, more: object = {}) =>
    publish(payment({ account_id, quote_amount, ...more }));

  test.each([
    ['no alert without a threshold', null, ['9000000'], 0],
    ['no alert when the threshold is reached exactly', '3000000', ['1000000', '2000000'], 0],
    ['an alert when it is passed by the smallest amount', '3000000', ['3000000', '1'], 1],
    ['an alert when the first payment passes it', '3000000', ['3000001'], 1],
    ['one alert when several payments pass it', '1000000', ['2000000', '2000000', '2000000'], 1],
  ])('%s', async (_name, spending_alert_threshold, amounts, expected) => {
    const payer = await newOwner({ spending_alert_threshold });
    for (const amount of amounts) await pay(payer, amount);
    expect(alerts(payer)).toBe(expected);
    expect(mailsOf(payer, MADE)).toEqual([]);
  });

  test('the alert names the day, the spending, and the setting that turns it off', async () => {
    const payer = await newOwner({ spending_alert_threshold: '2500000' });
    await pay(payer, '2000000');
    await pay(payer, '1250000');
    const { text, html } = mailsOf(payer, ALERT)[0]!;
    const today = hoursAgo(0).slice(0, 10);
    const sentence = `On ${day(today)} (UTC) your account has spent 3.25 USDC so far, more than your alert of 2.50 USDC.`;
    for (const body of [text, html]) {
      expect(body).toContain(sentence);
      expect(body).toContain('turn off this alert');
    }
  });

  test('64 concurrent payments, each published twice, make one alert and the exact sum', async () => {
    const payer = await newOwner({ spending_alert_threshold: '32000000' });
    const events = Array.from({ length: 64 }, () => payment({ account_id: payer.account_id }));
    await publish(...events, ...events);
    expect([alerts(payer), await spentOf(payer)]).toEqual([1, ['64000000']]);
  });

  test('64 concurrent payments while the threshold changes make at most one alert for each threshold', async () => {
    const payer = await newOwner({ spending_alert_threshold: '5000000' });
    const thresholds = ['5000000', '10000000', '20000000', null];
    await Promise.all([
      publish(...Array.from({ length: 64 }, () => payment({ account_id: payer.account_id }))),
      atOnce(64, (i) => payer.change({ spending_alert_threshold: thresholds[i % 4] })),
    ]);
    await payer.change({ spending_alert_threshold: '63000000' });
    await pay(payer, '1');
    const thresholdsAlerted = mailsOf(payer, ALERT).map(
      ({ text }) => /your alert of (\S+) USDC/.exec(text)![1],
    );
    expect(new Set(thresholdsAlerted).size).toBe(thresholdsAlerted.length);
    expect(thresholdsAlerted).toContain('63.00');
    expect(await spentOf(payer)).toEqual(['64000001']);
  });

  test('a threshold that is raised after an alert alerts again when it is passed; an alerted one does not', async () => {
    const payer = await newOwner({ spending_alert_threshold: '1000000' });
    const set = (spending_alert_threshold: string | null) => payer.change({ spending_alert_threshold });
    await pay(payer, '2000000');
    await set('3000000');
    await pay(payer, '1000000');
    expect(alerts(payer)).toBe(1);
    await pay(payer, '1');
    expect(alerts(payer)).toBe(2);
    for (const threshold of ['1000000', '2000000', null, '3000000']) {
      await set(threshold);
      await pay(payer, '1');
    }
    expect(alerts(payer)).toBe(2);
  });

  test('a threshold below the present spending alerts with the next payment', async () => {
    const payer = await newOwner({ spending_alert_threshold: '9000000' });
    await pay(payer, '2000000');
    await payer.change({ spending_alert_threshold: '1000000' });
    expect(alerts(payer)).toBe(0);
    await pay(payer, '1');
    expect(alerts(payer)).toBe(1);
  });

  test('a new UTC day starts at zero, and a late event counts in its day', async () => {
    const payer = await newOwner({ spending_alert_threshold: '1000000' });
    await pay(payer, '2000000');
    const evening = new Date(Date.parse(hoursAgo(0).slice(0, 10)) + DAY * 1000 - 1).toISOString();
    await running.passSeconds(DAY / 2);
    const morning = new Date(Date.parse(evening) + 1).toISOString();
    await pay(payer, '1000000', { issued_at: morning });
    await pay(payer, '500000', { issued_at: evening });
    expect([alerts(payer), await spentOf(payer)]).toEqual([1, ['2500000', '1000000']]);
    await pay(payer, '1', { issued_at: morning });
    expect([alerts(payer), await spentOf(payer)]).toEqual([2, ['2500000', '1000001']]);
    expect(mailsOf(payer, ALERT)[1]!.text).toContain(day(morning.slice(0, 10)));
    await toNoon();
  });
});

test('a payment is purged only when its event is too old to be recorded again', async () => {
  const payer = await newOwner({ mail_payments: true, spending_alert_threshold: '1' });
  const event = payment({ account_id: payer.account_id });
  const mails = () => running.smtp.mailsTo(payer.email).length;
  const rows = async () => [
    await running.count('handled_events', `event_key = '${event.settlement_id}'`),
    (await spentOf(payer)).length,
  ];
  await publish(event);
  const before = mails();
  for (const [days, stored] of [
    [6.9, [1, 1]],
    [0.2, [1, 1]],
    [0.95, [0, 1]],
    [1, [0, 0]],
  ] as const) {
    await running.passSeconds(days * DAY);
    await purgeHandledEvents(running.deps.pool);
    await purgeSpendingDays(running.deps.pool);
    expect(await rows()).toEqual(stored);
    await publish(event);
    expect([mails(), await rows()]).toEqual([before, stored]);
  }
  await publish(payment({ account_id: payer.account_id, issued_at: hoursAgo(169) }));
  expect([mails(), await spentOf(payer)]).toEqual([before, []]);
});

describe('the first payment to a payee', () => {
  const other = 'Vote111111111111111111111111111111111111111';
  const FIRST = /^First payment/;
  const events = async ({ session }: Owner) =>
    (await running.ask('listSecurityEvents', {}, callerOf(session))).data.filter(
      ({ kind }: { kind: string }) => kind === 'first_payment',
    );

  test('is mailed and noted once, with all mails turned off, however it is paid', async () => {
    const payer = await newOwner({ mail_key_events: false });
    const vendor = await newOwner();
    const service_id = await serviceOf(vendor, 'Weather');
    const toService = () =>
      payment({ account_id: payer.account_id, vendor_account_id: vendor.account_id, service_id });
    const [first, second] = [toService(), toService()];
    await publish(first, first);
    await publish(second, first);
    expect(mailsOf(payer, FIRST).map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /paid 1.00 USDC to the service “Weather”[\s\S]*It was paid from a session of yours/,
      ),
    ]);
    expect(await events(payer)).toMatchObject([
      { details: { settlement_id: first.settlement_id, service_id, amount: '1000000' } },
    ]);
    expect(mailsOf(payer, MADE)).toEqual([]);
  });

  test('64 payments at once to one address of a vendor without an account are one first payment', async () => {
    const payer = await newOwner();
    const outgoing = { rail: 'x402_out', quote_id: null, service_id: null, vendor_account_id: null };
    const payees = [{ address: PAYOUT, amount: '1000000' }];
    const all = Array.from({ length: 64 }, () =>
      payment({ ...outgoing, account_id: payer.account_id, payees, fee_amount: '0' }),
    );
    await publish(...all);
    const mails = mailsOf(payer, FIRST);
    expect(mails).toHaveLength(1);
    expect(mails[0]!.text).toContain(`at the address ${PAYOUT}`);
    expect(await events(payer)).toHaveLength(1);
    await publish(
      payment({
        ...outgoing,
        account_id: payer.account_id,
        payees: [{ address: other, amount: '1000000' }],
      }),
    );
    expect(mailsOf(payer, FIRST)).toHaveLength(2);
  });

  test('each payee of a split that was never paid is a first payment, with what it got', async () => {
    const payer = await newOwner();
    const third = 'Stake11111111111111111111111111111111111111';
    const outgoing = { rail: 'mpp_out', quote_id: null, service_id: null, vendor_account_id: null };
    const split = (...parts: [string, string][]) =>
      payment({
        ...{ ...outgoing, account_id: payer.account_id, fee_amount: '0' },
        payees: parts.map(([address, amount]) => ({ address, amount })),
      });
    await publish(split([PAYOUT, '1000000']));
    const divided = split([PAYOUT, '1'], [other, '999000'], [third, '999']);
    await publish(divided, divided);
    const mails = mailsOf(payer, FIRST).map(({ text }) => text);
    expect(mails).toHaveLength(3);
    for (const [address, amount] of [
      [other, '0.999'],
      [third, '0.000999'],
    ]) {
      const [own] = mails.filter((text) => text.includes(`at the address ${address}`));
      expect(own).toContain(`your account paid ${amount} USDC to`);
      expect(own).toContain('It is a part of a payment of 1.00 USDC to 3 addresses.');
    }
    expect((await events(payer)).map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ pay_to: other, amount: '999000', total: '1000000', payees: '3' }),
        expect.objectContaining({ pay_to: third, amount: '999', total: '1000000', payees: '3' }),
      ]),
    );
    await publish(split([third, '400000'], [other, '600000']));
    expect(mailsOf(payer, FIRST)).toHaveLength(3);
  });
});
