/** CSV files (RFC 4180). */

/**
 * One cell of a CSV file (RFC 4180). A spreadsheet treats text that begins with one of these
 * characters as a formula, also after white space, and vendors choose names. Such text gets a
 * leading apostrophe (OWASP, CSV Injection). A number below zero is no formula.
 */
export const textCell = (text: string): string => {
  const isNumber = /^-\d+(\.\d+)?$/.test(text);
  const safe = !isNumber && /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

/** A line of the file, with its line end. */
export const csvRow = (cells: readonly string[]): string => `${cells.map(textCell).join(',')}\r\n`;

/** Offers a CSV file to the user. The byte order mark makes spreadsheets read UTF-8. */
export const download = (name: string, lines: readonly string[]): void =>
  offerFile(name, new Blob(['\ufeff', ...lines], { type: 'text/csv;charset=utf-8' }));

/** Offers a file that this page has made to the user. */
export const offerFile = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the URL after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
