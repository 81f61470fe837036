import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { CaughtMessage } from './store.ts';

const largestMail = 1024 * 1024;

/**
 * An SMTP server that accepts every mail and stores one message per recipient of the envelope,
 * including hidden ones. It has no TLS and no log-in, because it listens on this machine only.
 */
export function mailReceiver(receive: (message: CaughtMessage) => void): SMTPServer {
  return new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: largestMail,
    logger: false,
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('error', done);
      stream.on('end', async () => {
        if (stream.sizeExceeded)
          return done(Object.assign(new Error('mail is too large'), { responseCode: 552 }));
        try {
          const { subject = '', text = '', html = '' } = await PostalMime.parse(Buffer.concat(parts));
          const received_at = new Date().toISOString();
          for (const { address } of session.envelope.rcptTo) {
            receive({ to: address, subject, text: text.trimEnd(), html, received_at });
          }
          done();
        } catch (error) {
          done(error as Error);
        }
      });
    },
  });
}
