import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** Files with secrets: readable by their owner only, and written at once or not at all. */

const PRIVATE = 0o600;

/** Writes an object. A crash leaves the previous content. */
export const writePrivate = async (file: string, content: unknown): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${randomUUID()}.tmp`;
  const handle = await open(written, 'wx', PRIVATE);
  try {
    await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(written, file);
};

/** The stored object, or null if there is none or it is not readable as one. */
export const readPrivate = async <T>(file: string): Promise<T | null> => {
  try {
    const text = await readFile(file, 'utf8');
    // A backup or a copy may have been restored with other rights.
    await chmod(file, PRIVATE);
    return JSON.parse(text) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
};

export const removePrivate = (file: string): Promise<void> => rm(file, { force: true });
