/** Escapes text for any place in a page. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A sentence of ours, in which names stand in backticks. */
export const sentence = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

export const list = (items: readonly string[]): string =>
  `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;

/** A page without script and without inline style, so that the policy can forbid both. */
export const htmlPage = ({ title, body }: { title: string; body: string }): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/page.css">
</head>
<body>
${body}
</body>
</html>
`;

/** The links at the top of a page of the documentation. */
export const TOP =
  '<p><a href="/">Start</a> · <a href="/docs/guides">Guides</a> · <a href="/docs">Reference</a> · ' +
  '<a href="/docs/errors">Errors</a> · <a href="/console">Console</a></p>';
