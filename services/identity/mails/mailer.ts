import { createTransport } from 'nodemailer';
import type { Environment } from '../../../shared/contract/primitives.ts';

/** nodemailer is known to this file alone. */
export type Mail = { to: string; subject: string; text: string; html: string };
export type Mailer = {
  /**
   * Hands a mail to the SMTP server.
   * @throws MailRefused when the server will never take it; any other error may pass.
   */
  send: (mail: Mail) => Promise<void>;
  close: () => void;
};

export class MailRefused extends Error {}

/** Sends over a few kept connections, since a new one costs several round trips. Time-outs are milliseconds. */
export const createMailer = ({ url, from }: { url: string; from: string }): Mailer => {
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: 3,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 30_000,
      // A mail is made of our own text alone.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  );
  return {
    send: async ({ to, ...mail }) => {
      try {
        // As an object the address is never parsed for lists, groups or names.
        await transport.sendMail({ ...mail, to: { name: '', address: to } });
      } catch (error) {
        const { responseCode } = error as { responseCode?: number };
        // 55x refuses this mail for good (RFC 5321); 53x and 50x are about our login or our commands, which an
        // operator can mend while the link still works.
        const permanent = responseCode !== undefined && responseCode >= 550 && responseCode < 560;
        throw permanent ? new MailRefused(`refused with ${responseCode}`) : error;
      }
    },
    close: () => transport.close(),
  };
};

/** Text as HTML shows it. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The mail with a sign-in link. The token is in the fragment, which reaches no server and no referrer. */
export const signInMail = ({
  to,
  environment,
  signInUrl,
  token,
  minutes,
}: {
  to: string;
  environment: Environment;
  signInUrl: string;
  token: string;
  minutes: number;
}): Mail => {
  const link = `${signInUrl}#token=${token}`;
  const sentences = [
    ...(environment === 'test' ? ['This is the test environment: its money is not real.'] : []),
    `The link works once and for ${minutes} minutes. A newer link replaces it.`,
    'If you did not ask for it, ignore this mail: nobody can sign in without the link.',
  ];
  return {
    to,
    subject: 'Sign in to Quittance',
    text: ['Open this link to sign in to Quittance:', link, ...sentences, ''].join('\n\n'),
    html: [
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in to Quittance</title></head><body>',
      `<p><a href="${escapeHtml(link)}">Sign in to Quittance</a></p>`,
      ...sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
      '</body></html>',
    ].join('\n'),
  };
};
