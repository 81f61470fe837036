/**
 * The chart library gives the browser's language to Intl when it loads. Intl refuses names such as
 * `en-US@posix`, which Chromium takes from a system without a locale, and the page stays blank.
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
