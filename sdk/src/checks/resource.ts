/**
 * The resource of a quote, `scope.resource`: the origin and path of the paid address, in one
 * normalized form. Vendor and payer derive it from the address with the same function, so that a
 * quote cannot be presented for another address.
 */

/**
 * RFC 3986, 2.3: these characters have the same meaning escaped or not (6.2.2.2). An escaped slash
 * is a different character.
 */
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

const onePath = (path: string): string =>
  path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });

/**
 * Origin and path of an http(s) address without its query, fragment and user:
 * `https://api.example.com/forecast`. Case of the host, a default port, dot segments and
 * unnecessary escapes do not matter. A slash at the end and the case of the path do.
 * @throws TypeError if it is not an http(s) address
 */
export const resourceOf = (address: string | URL): string => {
  const { protocol, origin, pathname } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('not an http(s) address');
  return `${origin}${onePath(pathname)}`;
};

/**
 * True if a signed `scope.resource` is exactly the resource of this address, without anything else.
 */
export const isResourceOf = (claimed: unknown, address: string): boolean => {
  if (typeof claimed !== 'string' || !URL.canParse(claimed)) return false;
  const { username, password } = new URL(claimed);
  if (username !== '' || password !== '' || /[?#]/.test(claimed)) return false;
  return /^https?:/i.test(claimed) && resourceOf(claimed) === resourceOf(address);
};
