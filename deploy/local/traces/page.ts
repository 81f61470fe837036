import { escapeHtml } from '../pages/local-page.ts';
import { type Branch, type Trace, type TracedSpan, treeOf } from './store.ts';

const LISTED = 200;
/** Distinct colours for the services, readable on light and dark backgrounds. */
const HUES: Record<string, number> = {
  gateway: 210,
  quote: 285,
  settlement: 145,
  wallet: 40,
  funding: 330,
  identity: 180,
  'chain-submitter': 15,
  webhook: 250,
};
const colour = (service: string): string => `hsl(${HUES[service] ?? 0} 55% 50%)`;

const frame = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .2rem .5rem; border-bottom: 1px solid #8883; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.failed { color: #d33; font-weight: 600; }
details { border-bottom: 1px solid #8882; }
summary { display: grid; grid-template-columns: minmax(16rem, 45%) 1fr 10rem; gap: .75rem; cursor: pointer; list-style: none; }
summary:hover { background: #8881; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.track { position: relative; align-self: center; height: .8rem; background: #8882; border-radius: 3px; }
.bar { position: absolute; height: 100%; min-width: 2px; border-radius: 3px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; margin: .25rem 0 .5rem 2rem; font-size: .9em; }
dd { margin: 0; overflow-wrap: anywhere; }
small { color: light-dark(#666, #999); }
a { color: light-dark(#0f766e, #2dd4bf); }
form { margin: 0 0 1rem; }
input, button { font: inherit; padding: .25rem .5rem; max-width: 100%; }
</style>
</head>
<body>
${body}
</body>
</html>
`;

const ms = (us: number): string =>
  us < 10_000_000 ? `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms` : `${(us / 1_000_000).toFixed(1)} s`;
const isoTime = (us: number): string => new Date(us / 1000).toISOString().slice(11, 23);
const extent = (spans: readonly TracedSpan[]) => {
  const from = Math.min(...spans.map(({ started_us }) => started_us));
  const to = Math.max(...spans.map(({ started_us, duration_us }) => started_us + duration_us));
  return { from, length: Math.max(1, to - from) };
};

/**
 * The list of traces, newest first. Calls of the API are highlighted, because a server's status
 * matters most.
 */
export const listPage = (traces: readonly Trace[], id = ''): string => {
  const rows = traces.slice(0, LISTED).map((trace) => {
    const root = treeOf(trace)[0]!;
    const { from } = extent(trace.spans);
    const services = [...new Set(trace.spans.map(({ service }) => service))].join(', ');
    const status = root.attributes['http.response.status_code'] ?? '';
    const failed = trace.spans.some((span) => span.failed) ? ' class="failed"' : '';
    return `<tr><td>${isoTime(from)}</td><td><a href="/trace/${escapeHtml(trace.trace_id)}">${escapeHtml(root.name)}</a></td>
<td${failed}>${escapeHtml(String(status))}</td><td class="n">${ms(root.duration_us)}</td><td class="n">${trace.spans.length}</td><td>${escapeHtml(services)}</td></tr>`;
  });
  const table =
    rows.length === 0
      ? `<p>${id === '' ? 'No trace yet. Make a call to the API and reload.' : 'No trace has this id. Only the newest are kept.'}</p>`
      : `<table><tr><th>UTC</th><th>Call</th><th>Status</th><th class="n">Took</th><th class="n">Spans</th><th>Services</th></tr>${rows.join('\n')}</table>`;
  const search = `<form><input name="id" value="${escapeHtml(id)}" size="50" aria-label="Id"
placeholder="trace, request, stl_…, q_…, or signature of a transaction"> <button>Find</button>${id === '' ? '' : ' <a href="/">All traces</a>'}</form>`;
  return frame('Traces', `<h1>Traces</h1>\n${search}\n${table}`);
};

const rowOf = (span: Branch, depth: number, { from, length }: ReturnType<typeof extent>): string => {
  const late = span.started_us - from >= length;
  const left = late ? 100 : ((span.started_us - from) / length) * 100;
  const width = late ? 0 : (Math.min(span.duration_us, length) / length) * 100;
  const attributes = Object.entries({
    kind: span.kind,
    ...span.attributes,
    ...(span.links.length === 0 ? {} : { links: span.links.map(({ trace_id }) => trace_id).join(' ') }),
  }).map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(String(value))}</dd>`);
  return `<details><summary><span class="name${span.failed ? ' failed' : ''}" style="padding-left:${depth}rem">${escapeHtml(span.name)} <small>${escapeHtml(span.service)}</small></span>
<span class="track"><span class="bar" style="left:${left.toFixed(2)}%;width:${width.toFixed(2)}%;background:${colour(span.service)}"></span></span>
<span class="n">${late ? `<small>+${ms(span.started_us - from)}</small> ` : ''}${ms(span.duration_us)}</span></summary><dl>${attributes.join('')}</dl></details>
${span.children.map((child) => rowOf(child, depth + 1, { from, length })).join('')}`;
};

/**
 * The time scale of the waterfall. A span of work after the answer, up to finality, is drawn at the
 * edge, because it would shrink everything before it.
 */
const scaleOf = (root: Branch, whole: ReturnType<typeof extent>): ReturnType<typeof extent> =>
  root.duration_us * 4 < whole.length && root.duration_us > 0
    ? { from: whole.from, length: root.duration_us * 1.5 }
    : whole;

/** One trace as a waterfall. A click on a span shows its attributes. */
export const tracePage = (trace: Trace): string => {
  const whole = extent(trace.spans);
  const roots = treeOf(trace);
  const title = roots[0]!.name;
  return frame(
    title,
    `<p><a href="/">All traces</a></p>
<h1>${escapeHtml(title)}</h1>
<p>${isoTime(whole.from)} UTC, ${ms(roots[0]!.duration_us)} until the answer, ${ms(whole.length)} in total,  ${trace.spans.length} spans, trace ${escapeHtml(trace.trace_id)}</p>
${roots.map((root) => rowOf(root, 0, scaleOf(roots[0]!, whole))).join('')}`,
  );
};
