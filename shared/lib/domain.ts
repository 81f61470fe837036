import { domainToASCII, domainToUnicode } from 'node:url';

/** Domains that people claim and are shown. Pure: nothing is resolved. */

/** Names of this machine or of a private network, whatever they resolve to. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|corp|home)\.?$/;

/** Whether a host name means nothing, or something else, outside of a machine or its network. */
export const isPrivateName = (hostname: string): boolean =>
  !hostname.includes('.') || PRIVATE_NAME.test(hostname);

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** With the prefix of the record that proves it, a name stays within the 253 characters of DNS. */
const LONGEST = 240;

/**
 * A domain in its one form: ASCII, lower case, without the last dot.
 * @returns null for an address, a private name, or anything else that is no domain
 */
export const normaliseDomain = (text: string): string | null => {
  const typed = text.trim().replace(/\.$/, '');
  // The parser would leave out a path, as it does for a URL.
  if (/[\s/\\?#@:]/.test(typed)) return null;
  const name = domainToASCII(typed).toLowerCase();
  if (name === '' || name.length > LONGEST || isPrivateName(name)) return null;
  const labels = name.split('.');
  // A last label of digits is that of an address.
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!) ? name : null;
};

/**
 * Names whose letters cannot be taken for others: Latin with its accents, or one script alone. The
 * last label is part of the name, so Cyrillic before `.com` is mixed. Letters that look like plain
 * ones (`ı`, `ĸ`, `ŀ`, `ŉ`, `ſ`, and Latin beyond U+017E) are not among them.
 */
const CLEAR = [
  /^[a-z0-9.\-\u00df-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u017e]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}0-9.-]+$/u,
  /^[\p{Script=Han}\p{Script=Hangul}0-9.-]+$/u,
  ...['Arabic', 'Armenian', 'Bengali', 'Devanagari', 'Georgian', 'Hebrew', 'Tamil', 'Telugu', 'Thai'].map(
    (script) => new RegExp(`^[\\p{Script=${script}}0-9.-]+$`, 'u'),
  ),
  // With all its letters Cyrillic or Greek, a name still reads as another one unless it has a
  // letter of no other script. These have.
  /^(?=.*[бгдёжзийлпфцчшщъыэюя])[\p{Script=Cyrillic}0-9.-]+$/u,
  /^(?=.*[γδζθλξπσφψω])[\p{Script=Greek}0-9.-]+$/u,
];

/**
 * A domain as people are shown it: in its own letters if they cannot be taken for others, and as
 * `xn--…` otherwise.
 * @param name of `normaliseDomain`
 */
export const displayDomain = (name: string): string => {
  const letters = domainToUnicode(name);
  return CLEAR.some((pattern) => pattern.test(letters)) ? letters : name;
};
