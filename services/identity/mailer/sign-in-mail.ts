import type { Environment } from '../../../shared/contract/primitives.ts';
import { environmentSentences, htmlBody, type Mail } from './mail-text.ts';

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
}): Mail => {
  const url = `${signInUrl}#token=${token}`;
  const sentences = [
    ...environmentSentences(environment),
    `The link works once and for ${minutes} minutes. A newer link replaces it.`,
    'If you did not request it, ignore this mail: nobody can sign in without the link.',
  ];
  return {
    to,
    subject: TITLE,
    text: ['Open this link to sign in to Quittance:', url, ...sentences, ''].join('\n\n'),
    html: htmlBody(TITLE, { url, label: TITLE }, sentences),
  };
};
