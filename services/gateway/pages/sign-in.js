// The page behind the mailed link. The token stands in the fragment, which no server and no referrer sees; it is
// used by the click alone, because mail scanners open links (and some run scripts) before the reader does.

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

const FAILURES = {
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
const unreachable = () =>
  fail('Could not sign you in right now', 'The link is still good. Try again in a moment.', { again: true });

const token = new URLSearchParams(location.hash.slice(1)).get('token');
// Out of the address bar at once: a shared screen, a bookmark or the history should not hold it.
history.replaceState(null, '', location.pathname);

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

const signIn = async () => {
  element('sign-in').disabled = true;
  element('status').textContent = 'Signing in…';
  try {
    const response = await fetch('/v1/auth/magic-link/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    if (response.ok) showSession(await response.json());
    else (FAILURES[response.status] ?? unreachable)();
  } catch {
    unreachable();
  } finally {
    element('sign-in').disabled = false;
  }
};

const copy = async () => {
  const field = element('access-token');
  try {
    await navigator.clipboard.writeText(field.value);
    element('status').textContent = 'Copied.';
  } catch {
    // Without the permission (plain http, older browsers) the text is selected, and the keyboard copies it.
    field.select();
    element('status').textContent = 'Press Ctrl+C or ⌘C to copy.';
  }
};

element('sign-in').addEventListener('click', signIn);
element('again').addEventListener('click', signIn);
element('copy').addEventListener('click', copy);

if (token) {
  element('environment').textContent = token.startsWith('ml_live_')
    ? 'It is for the live environment.'
    : 'It is for the test environment.';
  show('ask');
} else {
  fail('Open the link from your mail', 'This page needs the sign-in link that was sent to you.');
}
