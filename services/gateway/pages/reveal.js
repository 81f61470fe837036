// The page behind the mailed link to a new key.

import { askForClick, copyAtClick, element, fail, query, show } from './mailed-link.js';

// Whose key it is; only these two shapes go into the path of a call.
const serviceId = /^[0-9a-f-]{36}$/.exec(query.get('service') ?? '')?.[0];
const delegateId = /^del_[0-9a-z]{26}$/.exec(query.get('delegate') ?? '')?.[0];
const owner = serviceId ? `services/${serviceId}` : delegateId ? `delegates/${delegateId}` : null;

const gone = () =>
  fail(
    'This link no longer works',
    'It was used already, is older than 15 minutes, or a newer link was sent. Ask for a new one.',
  );

const showKey = ({ api_key, previous_key_expires_at }) => {
  element('api-key').value = api_key;
  const ends = previous_key_expires_at === null ? null : new Date(previous_key_expires_at);
  element('previous').textContent =
    ends !== null && ends > new Date()
      ? `The previous key works until ${ends.toLocaleString()}.`
      : 'The previous key has ended.';
  document.title = 'The new key · Quittance';
  show('done');
};

element('owner').textContent = serviceId ?? delegateId ?? '';
copyAtClick('api-key');
askForClick('reveal', {
  path: owner === null ? null : `/v1/${owner}/key/reveal/verify`,
  doing: 'Making the key…',
  done: showKey,
  refused: { 400: gone, 401: gone },
  unreachable: () =>
    fail('Could not show a key right now', 'The link may still be good. Try again in a moment.', {
      again: true,
    }),
  incomplete: 'This page needs the link that was sent to you.',
});
