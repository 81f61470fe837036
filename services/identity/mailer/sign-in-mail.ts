import type { Environment } from '../../../shared/contract/primitives.ts';
import { type Mail, mailOf } from './mail-text.ts';

const TITLE = 'Sign in to Quittance';

/**
 * The mail with a sign-in link. The token is in the fragment of the URL, which browsers send to no
 * server and in no referrer.
 */
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
}): Mail =>
  mailOf({
    to,
    environment,
    subject: TITLE,
    sentences: [
      `This link signs you in. It works once, for ${minutes} minutes.`,
      'Open it in the browser in which you requested it.',
    ],
    advice: ['Did you not request it? Ignore this e-mail: nobody can sign in without the link.'],
    link: { url: `${signInUrl}#token=${token}`, label: 'Sign in' },
  });
