/**
 * What a quote is for, `scope.resource`: the origin and path of the address that asks for the
 * money, in one spelling. Vendor and payer both derive it from the address by this, so that a bill
 * cannot be shown under another one.
 */

/**
 * RFC 3986, 2.3: these mean the same escaped or not (6.2.2.2). A slash that is escaped stays
 * another character.
 */
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

const onePath = (path: string): string =>
  path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });

/**
 * Origin and path of an http(s) address without its query, fragment and user:
 * `https://api.example.com/forecast`. Case of the host, a default port, dot segments and needless
 * escapes do not count; a slash at the end and the case of the path do.
 * @throws TypeError when it is no http(s) address
 */
export const resourceOf = (address: string | URL): string => {
  const { protocol, origin, pathname } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('not an http(s) address');
  return `${origin}${onePath(pathname)}`;
};

/**
 * True when a signed `scope.resource` is exactly the resource of this address: it has nothing that
 * a resource has not.
 */
export const isResourceOf = (claimed: unknown, address: string): boolean => {
  if (typeof claimed !== 'string' || !URL.canParse(claimed)) return false;
  const { username, password } = new URL(claimed);
  if (username !== '' || password !== '' || /[?#]/.test(claimed)) return false;
  return /^https?:/i.test(claimed) && resourceOf(claimed) === resourceOf(address);
};
