import http, { type IncomingMessage } from 'node:http';
import type { Form, Try } from './attacks.ts';

/** The calls of attackers, each over a connection of its own. */

const TIMEOUT_MS = 60_000;
const UPGRADES: Partial<Record<Form, string>> = { 'upgrade x': 'x', 'upgrade h2c': 'h2c' };
/** Longer than what answers other than the long one have. */
const KEPT = 100_000;

type Asking = {
  host: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  /** Resolves when a stalled answer is to be read on. */
  resume: Promise<unknown>;
};

/** Reads an answer as the form of the call wants it. */
const read = (answer: IncomingMessage, one: Try, resume: Promise<unknown>): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    answer
      .on('error', () => undefined)
      .once('close', () => {
        one.isWhole = answer.complete && one.form !== 'leaves';
        resolve(text);
      });
    answer.on('data', (chunk: Buffer) => {
      const isFirst = !one.hasBegun;
      one.hasBegun = true;
      if (text.length < KEPT) text += chunk.toString('latin1');
      if (one.form === 'leaves' && answer.statusCode === 200) answer.destroy();
      if (one.form !== 'stalls' || !isFirst) return;
      answer.pause();
      void resume.then(() => answer.resume());
    });
  });

/** Makes one call, and writes down what its buyer saw of it. Never throws. @returns the body */
export const call = (one: Try, { host, port, path, headers, resume }: Asking): Promise<string> =>
  new Promise((resolve) => {
    const upgrade = UPGRADES[one.form];
    const end = (text: string) => {
      one.to ??= Date.now();
      const reason = one.status === 200 ? undefined : /"reason":"(\w+)"/.exec(text)?.[1];
      one.reason = reason ?? null;
      resolve(text);
    };
    const asked = http.request({
      ...{ host: '127.0.0.1', port, path, agent: false, timeout: TIMEOUT_MS },
      headers: { ...headers, host, ...(upgrade && { connection: 'Upgrade', upgrade }) },
    });
    asked.on('timeout', () => asked.destroy()).on('error', () => end(''));
    asked.on('upgrade', (_answer, socket) => {
      one.isSwitched = true;
      socket.destroy();
      end('');
    });
    asked.on('response', (answer) => {
      one.status = answer.statusCode!;
      void read(answer, one, resume).then(end);
    });
    asked.end();
  });
