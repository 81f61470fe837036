import { displayUsdc, parseUsdc, plainUsdc } from '../../../sdk/src/generated/usdc.ts';

/** The text on hover: "1,234.50 USDC · 1234500000 micro-units". */
export const exactUsdc = (micro: bigint): string => `${displayUsdc(micro)} · ${micro} micro-units`;

/**
 * Amounts as people type them in their own language: "0,05", "1.234,50", "1’234.50", "١٫٥". A text
 * with two meanings is asked about by the field.
 */

/** How a language writes numbers. */
type Notation = { digits: string; decimal: string; group: string };

const notationOf = (locale: string | undefined): Notation => {
  const parts = new Intl.NumberFormat(locale).formatToParts(-12_345_678.9);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const digits = new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210n);
  return { digits: [...digits].reverse().join(''), decimal: of('decimal'), group: of('group') };
};

/** Spaces and apostrophes separate groups and are never a decimal sign. */
const GROUP_ONLY = /[\s'’\u00a0\u202f]/g;

/** The text with the digits 0 to 9 and with "." and "," as the only signs, beside spaces. */
const latin = (typed: string, { digits, decimal, group }: Notation): string =>
  [...typed.trim().replace(/^\$\s*|\s*USDC$/gi, '')]
    .map((sign) => {
      const digit = [...digits].indexOf(sign);
      if (digit !== -1) return String(digit);
      // The signs of a language that writes neither a full stop nor a comma.
      if (sign === decimal && !/[.,]/.test(sign)) return '.';
      return sign === group && !/[.,\s'’]/.test(sign) ? ',' : sign;
    })
    .join('');

/** Groups of three digits, or of two in India: 1,234,567 and 12,34,567. */
const isGrouped = (whole: string, sign: string): boolean => {
  const [head = '', ...groups] = whole.split(sign);
  const inner = groups.slice(0, -1);
  return (
    /^[1-9]\d{0,2}$/.test(head) &&
    /^\d{3}$/.test(groups.at(-1) ?? '') &&
    inner.every((each) => /^\d{2,3}$/.test(each))
  );
};

/** What a text with one kind of sign means, without the signs of groups. */
const meaningsOf = (text: string, sign: '.' | ',', isGroupSign: boolean): string[] => {
  const [whole = '', decimals = '', ...more] = text.split(sign);
  if (more.length > 0) return isGrouped(text, sign) ? [text.replaceAll(sign, '')] : [];
  const asDecimal = `${whole === '' ? '0' : whole}${decimals === '' ? '' : `.${decimals}`}`;
  return isGroupSign && isGrouped(text, sign) ? [`${whole}${decimals}`, asDecimal] : [asDecimal];
};

/**
 * The meanings of a typed amount, as digits with "." before the decimals. None: it is no amount.
 * Two: a comma, or what separates groups in the reader's language, stands before three digits.
 * @param places how many decimals the amount may have
 */
export const meaningsOfAmount = (
  typed: string,
  { places = 6, locale }: { places?: number; locale?: string | undefined } = {},
): readonly string[] => {
  const notation = notationOf(locale);
  const text = latin(typed, notation);
  const compact = text.replace(GROUP_ONLY, '');
  const spaced = text.split(/[.,]/)[0]!;
  if (compact !== text && !isGrouped(spaced.replace(GROUP_ONLY, ' '), ' ')) return [];
  if (!/^[\d.,]*\d[\d.,]*$/.test(compact)) return [];
  const [dot, comma] = [compact.lastIndexOf('.'), compact.lastIndexOf(',')];
  const decimalSign = dot > comma ? '.' : ',';
  const groupSign = decimalSign === '.' ? ',' : '.';
  let meanings: string[];
  if (dot !== -1 && comma !== -1) {
    const [whole = '', decimals = '', ...more] = compact.split(decimalSign);
    meanings =
      more.length === 0 && isGrouped(whole, groupSign)
        ? [`${whole.replaceAll(groupSign, '')}.${decimals}`]
        : [];
  } else if (dot === -1 && comma === -1) meanings = [compact];
  else {
    // The console writes a full stop before decimals, so only some languages read it as a group.
    const isGroupSign = compact === text && (decimalSign === ',' || notation.group === '.');
    meanings = meaningsOf(compact, decimalSign, isGroupSign);
  }
  return meanings.filter((each) => (each.split('.')[1] ?? '').length <= places);
};

/** The micro-units of a field's text. Null: it is no amount above zero, or it has two meanings. */
export const typedUsdc = (typed: string, locale?: string): bigint | null => {
  const meanings = meaningsOfAmount(typed, { locale });
  return meanings.length === 1 ? parseUsdc(meanings[0]!) : null;
};

/**
 * An amount as the text that a field begins with. Three decimals get a fourth one, because a reader
 * whose language groups by full stops would be asked what they mean.
 */
export const fieldUsdc = (micro: bigint | string, locale?: string): string => {
  const plain = plainUsdc(micro);
  return meaningsOfAmount(plain, { locale }).length === 1 ? plain : `${plain}0`;
};

/** The error of a field whose text is no amount. */
export const NOT_AN_AMOUNT = 'Enter an amount above zero with at most six decimals, for example 1250.50.';
