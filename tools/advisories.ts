// `npm run ops -- advisories`: known advisories of the packages of each lock file of the tree.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readCommandLine, refuse, text } from '../deploy/local/processes/command-line.ts';
import { tableText } from './ops/table.ts';

/** EX_UNAVAILABLE of sysexits.h. */
const UNAVAILABLE = 69;

const root = path.resolve(import.meta.dirname, '..');

const reportSchema = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      name: z.string(),
      severity: z.string(),
      via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string() })])),
    }),
  ),
});

/** npm itself asks, because it knows the registry, its proxies and its credentials. */
const audit = (folder: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['audit', '--json', '--package-lock-only'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });

/** A row for each advisory. Packages that only use an affected package have none of their own. */
const rowsOf = (place: string, output: string): string[][] | null => {
  const report = reportSchema.safeParse(parsed(output));
  if (!report.success) return null;
  return Object.values(report.data.vulnerabilities).flatMap(({ name, severity, via }) =>
    via.flatMap((cause) =>
      typeof cause === 'string' ? [] : [[severity, name, cause.title, cause.url, place]],
    ),
  );
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const reasonOf = (output: string): string => {
  const failure = z.object({ message: z.string() }).safeParse(parsed(output));
  return failure.success ? failure.data.message : 'npm gave no answer';
};

const main = async (): Promise<number> => {
  const { values } = readCommandLine({
    typed: 'npm run ops -- advisories',
    about: `Asks npm's registry for known advisories of the packages of each lock file. Ends with 0 if none is known, with 1 if
there are some, and with 69 if the registry answers no such question: then nothing is known, which does not mean
that there are none.`,
    options: { folder: text('PATH', 'only the lock file of this folder') },
  });
  const exclude = (name: string) => /node_modules|^\.local/.test(name);
  const locks =
    values.folder === undefined
      ? globSync('**/package-lock.json', { cwd: root, exclude }).map((file) => path.join(root, file))
      : globSync('package-lock.json', { cwd: values.folder }).map((file) =>
          path.resolve(values.folder!, file),
        );
  if (locks.length === 0) return refuse(`${values.folder} has no package-lock.json`);
  const rows: string[][] = [];
  for (const lock of locks.sort()) {
    const output = await audit(path.dirname(lock));
    const found = rowsOf(path.relative(root, lock), output);
    if (found === null) {
      console.error(`advisories are unknown, because their source is unavailable: ${reasonOf(output)}`);
      return UNAVAILABLE;
    }
    rows.push(...found);
  }
  if (rows.length > 0)
    console.log(tableText([['severity', 'package', 'advisory', 'details', 'lock file'], ...rows]));
  console.log(`${rows.length} known advisories in ${locks.length} lock files`);
  return rows.length === 0 ? 0 : 1;
};

process.exitCode = await main();
