import { domainToASCII, domainToUnicode } from 'node:url';
import { LONGEST_EMAIL } from '../../../../shared/contract/identity/sign-in.ts';

/**
 * Every mailbox has one spelling. Accounts are found by it and mail is sent to it. Two spellings
 * that case mapping makes equal can therefore never be one account and two mailboxes.
 *
 * - Local part: ASCII dot-atom of RFC 5321, at most 64 characters, lower-cased. Quoted strings and
 *   SMTPUTF8 are refused: hardly any mailbox needs them, and they can hide look-alikes and header
 *   syntax.
 * - Domain: lower-cased, IDN as punycode. A look-alike (Cyrillic а in apple) is therefore another
 *   address and is shown as xn--…. A label that mixes scripts is refused, because no honest name
 *   does. Spellings that IDNA maps to other letters (full-width, soft hyphen) are refused, because
 *   each would have a mail limit of its own for the same mailbox.
 */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const ASCII = /^[\x21-\x7e]+$/;
/**
 * The scripts that a label with letters beyond ASCII may consist of, after the "highly restrictive"
 * level of Unicode UTS #39: one of the recommended scripts of UAX #31, or the scripts that
 * Japanese, Chinese and Korean combine.
 */
const COMBINED_SCRIPTS = ['Latin Han Hiragana Katakana', 'Latin Han Bopomofo', 'Latin Han Hangul'];
const SINGLE_SCRIPTS =
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao ' +
  'Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan';
const SCRIPTS = [...COMBINED_SCRIPTS, ...SINGLE_SCRIPTS.split(' ')].map((names) => {
  const letters = names.split(' ').map((name) => `\\p{Script=${name}}`);
  return new RegExp(`^[${letters.join('')}\\p{Script=Common}\\p{Script=Inherited}]+$`, 'u');
});
const isOfOneScript = (label: string): boolean => SCRIPTS.some((script) => script.test(label));

const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;

const normaliseDomain = (text: string): string | null => {
  const lower = text.normalize('NFC').toLowerCase();
  // domainToASCII parses a URL host, in which percent signs, brackets and the like have a meaning.
  if (/[\p{ASCII}--[a-z0-9.\-]]/v.test(lower)) return null;
  const ascii = domainToASCII(lower);
  const same = ASCII.test(lower) ? ascii === lower : domainToUnicode(ascii) === lower;
  const labels = ascii.split('.');
  if (!same || ascii.length > MAX_DOMAIN || labels.length < 2) return null;
  if (!domainToUnicode(ascii).split('.').every(isOfOneScript)) return null;
  // An all-numeric last label is an IPv4 address.
  if (!labels.every((label) => LABEL.test(label)) || /^[0-9]+$/.test(labels.at(-1)!)) return null;
  return ascii;
};

/** The address in its canonical spelling, or null when it is refused. */
export const normaliseEmail = (text: string): string | null => {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  // Checked before lower-casing: the Kelvin sign would become an ordinary k.
  if (local.length > MAX_LOCAL || !ASCII.test(local) || !LOCAL.test(local.toLowerCase())) return null;
  const domain = normaliseDomain(text.slice(at + 1));
  if (domain === null) return null;
  const address = `${local.toLowerCase()}@${domain}`;
  return address.length > LONGEST_EMAIL ? null : address;
};
