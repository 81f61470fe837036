/**
 * The two pages that a paywall shows by itself. They have no script, no style and no picture, so
 * the vendor's server needs no files. Their texts are here alone.
 */

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** @param refresh the content of a refresh: seconds, and an address */
const documentOf = (title: string, refresh: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
  `<meta name="viewport" content="width=device-width, initial-scale=1">` +
  `<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">` +
  `<meta http-equiv="refresh" content="${escaped(refresh)}"><title>${escaped(title)}</title></head>` +
  `<body><main><h1>${escaped(title)}</h1>${body}</main></body></html>`;

/**
 * Leads to the payment page at once, and by a link where a browser does not follow.
 * @param reason why an earlier payment was refused, a code
 */
export const pageOf = ({
  address,
  price,
  reason,
}: {
  address: string;
  price: string;
  reason: string | null;
}): string =>
  documentOf(
    'Payment required',
    `0; url=${address}`,
    `${reason === null ? '' : `<p>The last payment was refused: ${escaped(reason)}.</p>`}` +
      `<p>This page costs ${escaped(price)}.</p>` +
      `<p><a href="${escaped(address)}">Continue to payment</a></p>`,
  );

/** Loads the same address again until the outcome is known. */
export const waitingPage = (seconds: number, isPaid: boolean): string =>
  documentOf(
    isPaid ? 'Confirming your payment' : 'One moment, please',
    String(Math.max(1, Math.min(30, Math.ceil(seconds)))),
    isPaid
      ? '<p>This page loads again by itself. You do not pay twice.</p>'
      : '<p>This page loads again by itself. Nothing was paid.</p>',
  );
