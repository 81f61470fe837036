import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSmtpSink } from '../../../test/support/servers/smtp.ts';
import { certificateFiles } from '../../../test/support/servers/tls.ts';
import { createMailer } from './mailer.ts';

let files: Awaited<ReturnType<typeof certificateFiles>>;
beforeAll(async () => {
  files = await certificateFiles();
});
afterAll(() => files.remove());

const mail = { to: 'ada@example.com', subject: 'Sign in', text: 'a link', html: '<p>a link</p>' };
const send = async (options: Omit<Parameters<typeof createMailer>[0], 'from'>) => {
  const mailer = createMailer({ from: 'no-reply@quittance.example', ...options });
  try {
    await mailer.send(mail);
  } finally {
    mailer.close();
  }
};

test('a mail that requires TLS goes to a server with STARTTLS and a trusted certificate', async () => {
  const sink = await startSmtpSink(files.own);
  await send({ url: sink.url, requireTls: true, caFile: files.own.certFile });
  expect((await sink.waitFor(mail.to)).encrypted).toBe(true);
  await sink.close();
});

test('a mail that requires TLS is not sent to a server whose offer of STARTTLS was removed', async () => {
  const sink = await startSmtpSink();
  const url = sink.url.replace('?ignoreTLS=true', '');
  await expect(send({ url, requireTls: true })).rejects.toThrow(/STARTTLS|TLS/);
  expect(sink.mailsTo(mail.to)).toEqual([]);
  await send({ url });
  expect((await sink.waitFor(mail.to)).encrypted).toBe(false);
  await sink.close();
});

test('a mail is not sent to a server whose certificate another authority has signed', async () => {
  const sink = await startSmtpSink(files.own);
  for (const caFile of [files.other.certFile, undefined])
    await expect(send({ url: sink.url, requireTls: true, caFile })).rejects.toThrow(/certificate/);
  expect(sink.mailsTo(mail.to)).toEqual([]);
  await sink.close();
});
