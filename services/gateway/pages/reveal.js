// The page behind the mailed link to a new key. As with signing in, the token stands in the fragment and is used by the
// click alone.

const element = (id) => document.getElementById(id);
const show = (id) => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id;
  element('status').textContent = '';
};
const fail = (title, text, { again = false } = {}) => {
  element('failed-title').textContent = title;
  element('failed-text').textContent = text;
  element('again').hidden = !again;
  show('failed');
};

const token = new URLSearchParams(location.hash.slice(1)).get('token');
const query = new URLSearchParams(location.search);
// Whose key it is; only these two shapes go into the path of a call.
const serviceId = /^[0-9a-f-]{36}$/.exec(query.get('service') ?? '')?.[0];
const delegateId = /^del_[0-9a-z]{26}$/.exec(query.get('delegate') ?? '')?.[0];
const path = serviceId ? `services/${serviceId}` : delegateId ? `delegates/${delegateId}` : null;
// Out of the address bar at once: a shared screen, a bookmark or the history should not hold it.
history.replaceState(null, '', location.pathname);

const GONE = 'It was used already, is older than 15 minutes, or a newer link was sent. Ask for a new one.';
const unreachable = () =>
  fail('Could not show a key right now', 'The link may still be good. Try again in a moment.', {
    again: true,
  });

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

const reveal = async () => {
  element('reveal').disabled = true;
  element('status').textContent = 'Making the key…';
  try {
    const response = await fetch(`/v1/${path}/key/reveal/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    if (response.ok) showKey(await response.json());
    else if (response.status === 400 || response.status === 401) fail('This link no longer works', GONE);
    else unreachable();
  } catch {
    unreachable();
  } finally {
    element('reveal').disabled = false;
  }
};

const copy = async () => {
  const field = element('api-key');
  try {
    await navigator.clipboard.writeText(field.value);
    element('status').textContent = 'Copied.';
  } catch {
    field.select();
    element('status').textContent = 'Press Ctrl+C or ⌘C to copy.';
  }
};

element('reveal').addEventListener('click', reveal);
element('again').addEventListener('click', reveal);
element('copy').addEventListener('click', copy);

if (token && path) {
  element('owner').textContent = serviceId ?? delegateId;
  element('environment').textContent = token.startsWith('rv_live_')
    ? 'It is for the live environment.'
    : 'It is for the test environment.';
  show('ask');
} else {
  fail('Open the link from your mail', 'This page needs the link that was sent to you.');
}
