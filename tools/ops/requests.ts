import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Refusal } from '../../shared/lib/refusal.ts';
import { prettyLine } from '../../shared/lib/telemetry/pretty-line.ts';
import type { Command } from './command.ts';

type LogLine = { time: number; text: string; fields: Record<string, unknown> };

/** The fields of log lines that `payment show` accepts. */
const PAYMENT_IDS = ['settlement_id', 'quote_id', 'refund_id', 'withdrawal_id', 'deposit_id', 'approval_id'];

const filesAt = async (logs: string): Promise<string[]> => {
  const found = await stat(logs).catch(() => null);
  if (found === null)
    throw new Refusal(`there are no logs at ${logs}: name a file or a folder with --logs, or - for stdin`);
  if (!found.isDirectory()) return [logs];
  const names = await readdir(logs);
  return names
    .filter((name) => /\.log(\.\d+)?$/.test(name))
    .sort()
    .map((name) => path.join(logs, name));
};

/** A JSON object with a time; null for any other line. */
const parseLine = (text: string): LogLine | null => {
  const start = text.indexOf('{');
  if (start < 0) return null;
  try {
    // Collectors put the name of the container in front of the line.
    const fields = JSON.parse(text.slice(start)) as Record<string, unknown>;
    return typeof fields.time === 'number' ? { time: fields.time, text: text.slice(start), fields } : null;
  } catch {
    return null;
  }
};

/** The lines that name one of the texts, which the caller then compares with the fields. */
const linesWith = async (sources: readonly NodeJS.ReadableStream[], texts: readonly string[]) => {
  const lines: LogLine[] = [];
  for (const input of sources)
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = texts.some((each) => text.includes(each)) ? parseLine(text) : null;
      if (line !== null) lines.push(line);
    }
  return lines;
};

const inOrder = (lines: readonly LogLine[]) => [...lines].sort((a, b) => a.time - b.time);
const valuesOf = (lines: readonly LogLine[], name: string): string[] => [
  ...new Set(lines.flatMap(({ fields }) => (typeof fields[name] === 'string' ? [fields[name]] : []))),
];

/** The lines of a request, and of its trace, which includes the messages that it has caused. */
const findLines = async (requestId: string, logs: string): Promise<readonly LogLine[]> => {
  if (logs === '-')
    return (await linesWith([process.stdin], [requestId])).filter(
      ({ fields }) => fields.request_id === requestId,
    );
  const open = async () => (await filesAt(logs)).map((file) => createReadStream(file, 'utf8'));
  const own = (await linesWith(await open(), [requestId])).filter(
    ({ fields }) => fields.request_id === requestId,
  );
  const traces = valuesOf(own, 'trace_id');
  if (traces.length === 0) return own;
  const traced = (await linesWith(await open(), traces)).filter(
    ({ fields }) => fields.request_id !== requestId && traces.includes(String(fields.trace_id)),
  );
  return [...own, ...traced];
};

export const requestCommands: readonly Command[] = [
  {
    name: 'request show',
    args: '<request_id>',
    summary: 'Shows the log lines of a call by its x-request-id, from the logs of all processes',
    details: [
      'Request ids are in the logs only. --logs <path> names a file or a folder of JSON lines, - reads stdin; the default is the',
      'folder of the stack on this machine. In a collector of logs, search for the field request_id.',
    ].join('\n'),
    read: async ([requestId], { logs }) => {
      if (!/^[A-Za-z0-9-]{1,64}$/.test(requestId ?? ''))
        throw new Refusal(`${requestId} is not a request id: it has 1 to 64 characters of A-Z a-z 0-9 -`);
      const lines = inOrder(await findLines(requestId!, logs));
      if (lines.length === 0)
        return {
          json: [],
          text: `No line has request_id ${requestId}. In a collector of logs, search for {request_id="${requestId}"}.`,
          code: 1,
        };
      const ids = PAYMENT_IDS.flatMap((name) => valuesOf(lines, name));
      const colour = process.stdout.isTTY === true && process.stdout.hasColors();
      return {
        json: lines.map(({ fields }) => fields),
        text: [
          ...lines.map(({ text }) => prettyLine(text, { colour })),
          ...(ids.length === 0 ? [] : ['', ...ids.map((id) => `npm run ops -- payment show ${id}`)]),
        ].join('\n'),
      };
    },
  },
];
