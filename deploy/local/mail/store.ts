import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../processes/atomic-file.ts';

/** One recipient's copy of a mail. `html` is empty if the mail has none. */
export type CaughtMessage = { to: string; subject: string; text: string; html: string; received_at: string };

export type MailStore = {
  add: (message: CaughtMessage) => void;
  /** Newest first. `to` ignores case. */
  list: (to?: string) => CaughtMessage[];
};

/** Messages in `<folder>/messages.jsonl`, the newest `keep` of them. */
export function openMailStore(folder: string, keep = 1000): MailStore {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'messages.jsonl');
  const messages = existsSync(file) ? readMessages(file).slice(-keep) : [];
  writeAtomically(file, messages.map(toLine).join(''), 0o600);
  return {
    add: (message) => {
      appendFileSync(file, toLine(message));
      messages.push(message);
      if (messages.length > keep) messages.shift();
    },
    list: (to) => {
      const wanted = to?.toLowerCase();
      return messages
        .filter((message) => wanted === undefined || message.to.toLowerCase() === wanted)
        .reverse();
    },
  };
}

/** Drops a last line that a kill cut short. */
function readMessages(file: string): CaughtMessage[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as CaughtMessage];
      } catch {
        return [];
      }
    });
}

function toLine(message: CaughtMessage): string {
  return `${JSON.stringify(message)}\n`;
}
