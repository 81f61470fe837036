/**
 * What a mailed link brought. The token stands in the fragment, which no server and no referrer sees, and is used by a click
 * alone, because mail scanners open links (and some run scripts) before the reader does.
 */
export type MailedLink = { token: string; environment: 'test' | 'live'; query: URLSearchParams };

/** A sign-in's (`ml`) or a new key's (`rv`); the API decides whether it is good. */
const TOKEN = /^(?:ml|rv)_(test|live)_[A-Za-z0-9_-]+$/;

const take = (): MailedLink | null => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const environment = TOKEN.exec(token)?.[1] as 'test' | 'live' | undefined;
  const query = new URLSearchParams(location.search);
  // Out of the address bar at once: a shared screen, a bookmark or the history should not hold it.
  if (token !== '') history.replaceState(null, '', location.pathname);
  return environment === undefined ? null : { token, environment, query };
};

/** Taken when the page loads, before anything else sees the address; null where there is none. */
export const mailedLink = take();
