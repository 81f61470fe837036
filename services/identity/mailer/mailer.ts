import { createTransport } from 'nodemailer';
import { tlsWithOwn } from '../../../shared/lib/transport.ts';
import type { Mail } from './mail-text.ts';

/** No other file imports nodemailer. */
export type Mailer = {
  /**
   * Hands a mail to the SMTP server.
   * @throws MailRefused when the server will never accept it; after any other error a retry may
   *   work
   */
  send: (mail: Mail) => Promise<void>;
  close: () => void;
};

export class MailRefused extends Error {}

/**
 * Sends over a few pooled connections, because a new connection costs several round trips.
 * Time-outs are milliseconds.
 * @param requireTls no mail goes to a server that does not offer STARTTLS. Without it, whoever
 *   removes the offer on the way reads the sign-in links.
 * @param caFile an authority of the server, beside those that Node knows
 */
export const createMailer = ({
  url,
  from,
  requireTls = false,
  caFile,
}: {
  url: string;
  from: string;
  requireTls?: boolean;
  caFile?: string | undefined;
}): Mailer => {
  const transport = createTransport(
    {
      url,
      pool: true,
      requireTLS: requireTls,
      tls: tlsWithOwn(caFile),
      maxConnections: 3,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 30_000,
      // A mail contains text of this service only.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  );
  return {
    send: async ({ to, ...mail }) => {
      try {
        // nodemailer does not parse an address object, so lists, groups and names cannot occur.
        await transport.sendMail({ ...mail, to: { name: '', address: to } });
      } catch (error) {
        const { responseCode } = error as { responseCode?: number };
        // 55x refuses this mail for good (RFC 5321). 53x and 50x refuse the login or a command of
        // this service, which an operator can fix while the link is still valid.
        const permanent = responseCode !== undefined && responseCode >= 550 && responseCode < 560;
        throw permanent ? new MailRefused(`refused with ${responseCode}`) : error;
      }
    },
    close: () => transport.close(),
  };
};
