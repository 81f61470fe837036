import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

const CHECKSUM_CHARS = 9; // eight hex digits and a blank
const NEW_LINE = 10;
const TIP_CHARS = 20;

const checksum = (bytes: string | Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

const open = (path: string): number => {
  // 'a+' would ignore positions and 'r+' would not create.
  closeSync(openSync(path, 'a'));
  return openSync(path, 'r+');
};

const readAt = (fd: number, offset: number, length: number): Buffer => {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = readSync(fd, buffer, done, length - done, offset + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
};

const verified = (line: Buffer): string | undefined => {
  const text = line.toString('utf8', CHECKSUM_CHARS);
  return line.toString('latin1', 0, CHECKSUM_CHARS - 1) === checksum(text) ? text : undefined;
};

type Line = { text: string; offset: number; length: number };
export type Journal = ReturnType<typeof openJournal>;

/**
 * The append-only record of everything that changed the chain: one checksummed line of JSON per
 * change. A line is written before its request is answered. It survives kill -9 of the process,
 * because the operating system has the data by then. The journal is never rewritten, because
 * rewriting a long history blocks for seconds.
 */
export const openJournal = (path: string) => {
  mkdirSync(dirname(path), { recursive: true });
  const fd = open(path);
  let end = fstatSync(fd).size;

  return {
    /** Where the next line will begin, in bytes. */
    end: () => end,

    /** Writes one line and returns its position. */
    append: (text: string): { offset: number; length: number } => {
      const line = Buffer.from(`${checksum(text)} ${text}\n`);
      const offset = end;
      let done = 0;
      while (done < line.length) done += writeSync(fd, line, done, line.length - done, offset + done);
      end += line.length;
      return { offset, length: line.length };
    },

    read: (at: { offset: number; length: number }): string => {
      const text = verified(readAt(fd, at.offset, at.length - 1));
      if (text === undefined) throw new Error(`the journal is damaged at byte ${at.offset}`);
      return text;
    },

    /**
     * All lines, oldest first. A last line that a kill truncated is removed, because its request
     * was not answered yet.
     *
     * @throws Error if a line before the last one is damaged.
     */
    *lines(): Generator<Line> {
      let offset = 0;
      const chunkBytes = 1 << 20;
      let rest = Buffer.alloc(0);
      for (let position = 0; position < end; ) {
        const chunk = readAt(fd, position, Math.min(chunkBytes, end - position));
        position += chunk.length;
        let data = Buffer.concat([rest, chunk]);
        for (let at = data.indexOf(NEW_LINE); at >= 0; at = data.indexOf(NEW_LINE)) {
          const text = verified(data.subarray(0, at));
          const length = at + 1;
          if (text === undefined) {
            if (offset + length < end)
              throw new Error(`the journal is damaged at byte ${offset}: start with an empty folder`);
            break;
          }
          yield { text, offset, length };
          offset += length;
          data = data.subarray(length);
        }
        rest = data;
      }
      if (offset < end) {
        ftruncateSync(fd, offset);
        end = offset;
      }
    },

    close: (): void => closeSync(fd),
  };
};

/**
 * The number of the newest slot, overwritten in place at every tick. One line per tick would be 8
 * MB a day.
 */
export const openTip = (path: string) => {
  const fd = open(path);
  return {
    /** Undefined if there is none yet or the write was incomplete. */
    read: (): number | undefined => {
      const text = verified(readAt(fd, 0, CHECKSUM_CHARS + TIP_CHARS));
      return text ? Number(text) : undefined;
    },
    write: (slot: number): void => {
      const text = String(slot).padStart(TIP_CHARS, '0');
      writeSync(fd, `${checksum(text)} ${text}`, 0);
    },
    close: (): void => closeSync(fd),
  };
};

/** Replaces the whole file atomically, with a checksum in front of its content. */
export const writeWhole = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  const fd = openSync(`${path}.new`, 'w');
  try {
    const bytes = Buffer.from(`${checksum(content)} ${content}`);
    let done = 0;
    while (done < bytes.length) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
  // The rename is durable only after the folder is synced.
  const folder = openSync(join(path, '..'), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

/** The content written by `writeWhole`: `missing`, or `damaged` if its checksum does not match. */
export const readWhole = (path: string): { content: string } | 'missing' | 'damaged' => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  const content = verified(bytes);
  return content === undefined ? 'damaged' : { content };
};
