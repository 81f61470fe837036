import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type ReceivedMail = {
  /** Envelope recipients: where the mail is sent, whatever its header contains. */
  to: string[];
  from: string;
  subject: string;
  text: string;
  html: string;
  headers: { key: string; value: string }[];
  encrypted: boolean;
  /** The message as it was received. */
  raw: string;
};

/** A mail server of one test, which stores what it receives. */
type SmtpSink = {
  url: string;
  /** All mails to this address so far, oldest first. */
  mailsTo: (address: string) => ReceivedMail[];
  /** Waits for the n-th mail to this address (from 1). */
  waitFor: (address: string, n?: number) => Promise<ReceivedMail>;
  /** Answers the next mails with these SMTP codes instead of accepting them. */
  refuseNext: (...codes: number[]) => void;
  close: () => Promise<void>;
};

const WAIT_MS = 30_000;

/** @param tls a certificate: the server offers STARTTLS, which it does not require */
export const startSmtpSink = async (tls?: { cert: string; key: string }): Promise<SmtpSink> => {
  const received: ReceivedMail[] = [];
  const refusals: number[] = [];
  const arrivals = new EventTarget();

  const server = new SMTPServer({
    authOptional: true,
    ...tls,
    disabledCommands: tls === undefined ? ['STARTTLS', 'AUTH'] : ['AUTH'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const responseCode = refusals.shift();
        if (responseCode !== undefined) return done(Object.assign(new Error('refused'), { responseCode }));
        const message = Buffer.concat(chunks);
        void PostalMime.parse(message).then((mail) => {
          received.push({
            to: session.envelope.rcptTo.map(({ address }) => address),
            from: mail.from?.address ?? '',
            subject: mail.subject ?? '',
            text: mail.text ?? '',
            html: mail.html ?? '',
            headers: mail.headers,
            encrypted: session.secure,
            raw: message.toString('latin1'),
          });
          arrivals.dispatchEvent(new Event('mail'));
          done();
        }, done);
      });
    },
  });
  server.on('error', () => {}); // A client that disconnects does not fail the test.
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;

  const mailsTo = (address: string) => received.filter(({ to }) => to.includes(address));
  return {
    url: tls === undefined ? `smtp://127.0.0.1:${port}?ignoreTLS=true` : `smtp://localhost:${port}`,
    mailsTo,
    waitFor: async (address, n = 1) => {
      const signal = AbortSignal.timeout(WAIT_MS);
      while (mailsTo(address).length < n) await once(arrivals, 'mail', { signal });
      return mailsTo(address)[n - 1]!;
    },
    refuseNext: (...codes) => void refusals.push(...codes),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
