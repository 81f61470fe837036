/**
 * The content of a mailed link. The token is in the fragment, which no server and no referrer sees.
 * Only a click uses it, because mail scanners open links (and some run scripts) before the reader.
 */
type MailedLink = { token: string; environment: 'test' | 'live'; query: URLSearchParams };

/** The token of a sign-in (`ml`) or of a new key (`rv`). The API decides whether it is valid. */
const TOKEN = /^(?:ml|rv)_(test|live)_[A-Za-z0-9_-]+$/;

const take = (): MailedLink | null => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const environment = TOKEN.exec(token)?.[1] as 'test' | 'live' | undefined;
  const query = new URLSearchParams(location.search);
  // Removed from the address bar at once, so that no screen share, bookmark or history holds it.
  if (token !== '') history.replaceState(null, '', location.pathname);
  return environment === undefined ? null : { token, environment, query };
};

/** Read when the page loads, before anything else reads the address. Null if there is none. */
export const mailedLink = take();
