import { escapeHtml } from '../pages/local-page.ts';
import type { CaughtMessage } from './store.ts';

/**
 * The inbox as a page. Mail is shown as escaped text with clickable links. HTML of a mail is never
 * inserted, and the page has no script.
 */
export function inboxPage(messages: readonly CaughtMessage[]): string {
  const list = messages.map(article).join('\n') || '<p>No mail yet. Reload the page to check again.</p>';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Caught mail (${messages.length})</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid #8886; border-radius: 8px; padding: 0 1rem; margin: 1rem 0; }
h2 { font-size: 1.1rem; margin-bottom: 0; }
.about { color: #666; margin-top: 0; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Caught mail</h1>
${list}
</body>
</html>
`;
}

function article({ to, subject, text, html, received_at }: CaughtMessage): string {
  return `<article>
<h2>${escapeHtml(subject || '(no subject)')}</h2>
<p class="about">to ${escapeHtml(to)}, <time>${escapeHtml(received_at)}</time></p>
<p class="text">${withLinks(text || textOf(html))}</p>
</article>`;
}

/** Only http and https: a `javascript:` link from a mail stays text. */
function withLinks(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>"']+)/g)
    .map((part, index) =>
      index % 2 === 0
        ? escapeHtml(part)
        : `<a href="${escapeHtml(part)}" rel="noreferrer noopener" target="_blank">${escapeHtml(part)}</a>`,
    )
    .join('');
}

/** The text of a mail that has HTML only. Links keep their addresses. */
function textOf(html: string): string {
  return html
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/<a\b[^>]*href="([^"]*)"[^>]*>/gi, ' $1 ')
    .replace(/<(br|\/p|\/div|\/h\d|\/tr)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .trim();
}
