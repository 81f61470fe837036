/**
 * Text of others in a question to a person. A line break, an invisible character or a change of the
 * writing direction could make it look like another question.
 */

/** Line breaks and other controls, formats such as bidi overrides, and halves of characters. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]+/gu;
/** Every kind of quotation mark, because the question puts a name between two of them. */
const QUOTES = /["'`\u00ab\u00bb\u2018-\u201f\u2039\u203a\u2032-\u2037\u301d-\u301f\uff02\uff07]/g;

/** One line of visible characters without quotation marks. A long text is cut. */
export const shown = (text: string, longest: number): string => {
  const line = text.replace(UNSEEN, ' ').replace(QUOTES, '').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join('')}…`;
};
