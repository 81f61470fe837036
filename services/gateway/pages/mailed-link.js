// What the pages behind mailed links have in common. The token stands in the fragment, which no server and no referrer
// sees; it is used by the click alone, because mail scanners open links (and some run scripts) before the reader does.

export const element = (id) => document.getElementById(id);
export const show = (id) => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id;
  element('status').textContent = '';
};
export const fail = (title, text, { again = false } = {}) => {
  element('failed-title').textContent = title;
  element('failed-text').textContent = text;
  element('again').hidden = !again;
  show('failed');
};

const token = new URLSearchParams(location.hash.slice(1)).get('token');
export const query = new URLSearchParams(location.search);
// Out of the address bar at once: a shared screen, a bookmark or the history should not hold it.
history.replaceState(null, '', location.pathname);

/**
 * Asks for the click, which exchanges the token for what `path` answers.
 * @param path null: the link is not complete, as without a token
 * @param done shows the answer
 * @param refused what to say by status; `unreachable` for all others and when there is no answer
 */
export const askForClick = (button, { path, doing, done, refused, unreachable, incomplete }) => {
  if (!token || !path) return fail('Open the link from your mail', incomplete);
  const exchange = async () => {
    element(button).disabled = true;
    element('status').textContent = doing;
    try {
      const response = await fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      if (response.ok) done(await response.json());
      else (refused[response.status] ?? unreachable)();
    } catch {
      unreachable();
    } finally {
      element(button).disabled = false;
    }
  };
  element(button).addEventListener('click', exchange);
  element('again').addEventListener('click', exchange);
  element('environment').textContent = /^[a-z]+_live_/.test(token)
    ? 'It is for the live environment.'
    : 'It is for the test environment.';
  show('ask');
};

export const copyAtClick = (id) => {
  const field = element(id);
  element('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      element('status').textContent = 'Copied.';
    } catch {
      // Without the permission (plain http, older browsers) the text is selected, and the keyboard copies it.
      field.select();
      element('status').textContent = 'Press Ctrl+C or ⌘C to copy.';
    }
  });
};
