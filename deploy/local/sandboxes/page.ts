import { escapeHtml } from '../pages/local-page.ts';
import type { Behaviour, Purchase } from './purchases.ts';

/** The headers of HTML pages without scripts. Their forms post only to this server. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A whole page. `body` is HTML, in which the caller has escaped external input. */
export const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
button { font: inherit; padding: .5rem 1rem; margin: .25rem .25rem .25rem 0; }
input[type=text], select { font: inherit; padding: .25rem; }
label { display: block; margin: .25rem 0; }
fieldset { margin: 1.5rem 0; border: 1px solid #8886; border-radius: 8px; }
.sandbox { border-left: 4px solid #c80; padding-left: .75rem; }
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p class="sandbox">A sandbox on this machine. It moves no real money.</p>
${body}
</body>
</html>
`;

/** Names and values as a definition list. */
export const definitions = (values: Record<string, string>): string =>
  `<dl>${Object.entries(values)
    .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
    .join('')}</dl>`;

/** A form with hidden fields. */
export const form = (action: string, hidden: Record<string, string>, inner: string): string =>
  `<form method="post" action="${escapeHtml(action)}">${Object.entries(hidden)
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('')}${inner}</form>`;

/** Buttons that submit the next step in the field `action`. */
export const buttons = (names: Record<string, string>): string =>
  Object.entries(names)
    .map(([value, name]) => `<button name="action" value="${escapeHtml(value)}">${escapeHtml(name)}</button>`)
    .join('\n');

/** The form fields that `behaviourOf` reads. */
export const behaviourFields = `<fieldset>
<legend>How the sandbox behaves</legend>
<label><input type="checkbox" name="late" value="yes"> webhooks arrive 5 seconds late</label>
<label><input type="checkbox" name="twice" value="yes"> webhooks arrive twice</label>
<label><input type="checkbox" name="reversed" value="yes"> webhooks arrive in the wrong order</label>
<label><input type="checkbox" name="silent" value="yes"> no webhooks</label>
<label>USDC: <select name="transfer">
<option value="full">sent as bought</option>
<option value="less">a micro-unit too little is sent</option>
<option value="none">nothing is sent, but a transfer is reported</option>
</select></label>
</fieldset>`;

const lateMs = 5000;

/** The behaviour chosen on the page. Missing fields mean correct behaviour. */
export const behaviourOf = (fields: Record<string, string>): Behaviour => ({
  lateMs: fields.late === 'yes' ? lateMs : 0,
  twice: fields.twice === 'yes',
  reversed: fields.reversed === 'yes',
  silent: fields.silent === 'yes',
  transfer: fields.transfer === 'none' || fields.transfer === 'less' ? fields.transfer : 'full',
});

/** The last page. It links back to the merchant, with the parameters that the provider adds. */
export const donePage = (title: string, purchase: Purchase, added: Record<string, string> = {}): string => {
  const failed = purchase.status === 'failed';
  const text = failed
    ? `The payment failed: ${purchase.failureReason ?? 'declined'}.`
    : 'Paid. The USDC is being sent to the wallet.';
  const back = purchase.returnUrl === null ? null : new URL(purchase.returnUrl);
  for (const [name, value] of Object.entries(added)) back?.searchParams.set(name, value);
  const link = back === null ? '' : `<p><a href="${escapeHtml(back.href)}">Back to the merchant</a></p>`;
  return page(title, `<p>${escapeHtml(text)}</p>${definitions({ Payment: purchase.id })}${link}`);
};
