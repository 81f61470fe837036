import { type ErrorPage, errorPages } from '../../../shared/contract/error-guide.ts';
import { escapeHtml, htmlPage, list, sentence, TOP } from './html.ts';

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

const money = ({ money: values, actions }: ErrorPage): string =>
  values.length === 0
    ? ''
    : `<p>In calls about money: ${code('money_moved')} is ${values.map(code).join(' or ')}, ` +
      `${code('safe_action')} is ${actions.map(code).join(' or ')}.</p>`;

const calls = ({ calls: named }: ErrorPage): string => {
  if (named === 'most') return '<p>Most calls can answer it.</p>';
  if (named.length === 0) return '';
  return `<details><summary>Calls that can answer it: ${named.length}</summary>${list(named.map(code))}</details>`;
};

const section = (page: ErrorPage): string => `<section id="${page.code}">
<h2><a href="#${page.code}">${code(page.code)}</a> ${page.http}</h2>
<p>${sentence(page.meaning)}</p>
<h3>Causes</h3>
${list(page.causes.map(sentence))}
<h3>What to do</h3>
<p>${sentence(page.action)}</p>
${money(page)}
${calls(page)}
<pre><code>${escapeHtml(JSON.stringify(page.example, null, 2))}</code></pre>
</section>`;

/** /docs/errors: every error code, each with an anchor, which `docs_url` of an error names. */
export const errorsHtml = ({ serverUrl }: { serverUrl: string }): string => {
  const pages = errorPages({ serverUrl });
  return htmlPage({
    title: 'Errors of the Quittance API',
    body: `<header>${TOP}</header>
<h1>Errors</h1>
<p>Every error has a body with ${code('error')}: its ${code('code')}, a ${code('message')} that says what is wrong and
what to do, ${code('request_id')} (also the header ${code('x-request-id')}) and ${code('docs_url')}. Give ${code('request_id')}
to support. Errors of calls about money also have ${code('money_moved')} and ${code('safe_action')}.</p>
<nav>${list(pages.map((page) => `<a href="#${page.code}">${code(page.code)}</a> ${page.http}`))}</nav>
${pages.map(section).join('\n')}`,
  });
};
