// The page behind the mailed sign-in link.

import { askForClick, copyAtClick, element, fail, show } from './mailed-link.js';

const REFUSED = {
  401: () =>
    fail(
      'This link no longer works',
      'It was used already, is older than 15 minutes, or a newer link was sent. Ask for a new one.',
    ),
  400: () =>
    fail(
      'This link is not complete',
      'Part of it may have been lost on the way. Copy the whole link, or ask for a new one.',
    ),
  429: () => fail('Too many attempts', 'Wait a minute, then try again.', { again: true }),
};

const showSession = (session) => {
  element('email').textContent = session.account.email;
  element('account').textContent = session.account.account_id;
  element('access-token').value = session.access_token;
  const ends = new Date(Date.now() + session.expires_in * 1000);
  element('ends').textContent = ends.toLocaleTimeString();
  element('ends').dateTime = ends.toISOString();
  document.title = 'Signed in · Quittance';
  show('done');
};

copyAtClick('access-token');
askForClick('sign-in', {
  path: '/v1/auth/magic-link/verify',
  doing: 'Signing in…',
  done: showSession,
  refused: REFUSED,
  unreachable: () =>
    fail('Could not sign you in right now', 'The link is still good. Try again in a moment.', {
      again: true,
    }),
  incomplete: 'This page needs the sign-in link that was sent to you.',
});
