/** Lines of an answer that tell a reader nothing here. */
const NOISE = /^(X-Powered-By|Date|Connection|Keep-Alive|Content-Length|ETag|Vary):/i;
const MAX_LENGTH = 100;

const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const short = (line: string): string =>
  line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;

/** A page that looks like a terminal: each command with the output that it had. */
export const terminalPage = (
  shown: readonly { command: string; output: string }[],
): string => `<!doctype html>
<meta charset="utf-8">
<style>
body { margin: 0; background: #fff; }
main { width: 860px; background: #0e1116; border-radius: 10px; overflow: hidden; }
header { display: flex; gap: 8px; padding: 12px 14px; background: #1c2128; }
header i { width: 12px; height: 12px; border-radius: 50%; background: #3d444d; }
pre { margin: 0; padding: 16px 18px 20px; font: 13.5px/1.55 'DejaVu Sans Mono', ui-monospace, Menlo, monospace; color: #c9d1d9; white-space: pre-wrap; overflow-wrap: anywhere; }
b { color: #e6edf3; font-weight: 600; }
.prompt { color: #2dd4bf; }
</style>
<main><header><i></i><i></i><i></i></header><pre>${shown
  .map(({ command, output }) => {
    const lines = output.split('\n').filter((line) => !NOISE.test(line));
    return `<span class="prompt">$</span> <b>${escaped(command)}</b>\n${escaped(lines.map(short).join('\n'))}`;
  })
  .join('\n\n')}</pre></main>`;
