/** The cookies that an operation gives to a browser, or takes from it. */

/**
 * The refresh token of a browser (docs/spec/decisions.md, Sign-in). `give` may set it in the
 * cookie. `exchange` reads it from the cookie and sets the next one. `clear` removes the cookie.
 */
export type RefreshCookie = 'give' | 'exchange' | 'clear';

/**
 * The nonce of a browser that requests a sign-in link. `give` sets one in the body and in a cookie.
 * `show` copies the cookie's nonce to the body.
 */
export type BrowserCookie = 'give' | 'show';
