import { access, chmod, constants, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Variables, variablesIn, withIgnored, withVariables } from './env-text.ts';

/** The files that `quittance dev` has in the folder of a vendor. */

const PRIVATE = 0o600;

const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });

/** Whether a text can be added to a file, before something is created whose key it would lose. */
const checkWritable = async (file: string): Promise<void> => {
  await access(path.dirname(file), constants.W_OK);
  const handle = await open(file, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await handle?.close();
};

export const createFiles = (folder: string) => {
  const env = path.join(folder, '.env');
  const gitignore = path.join(folder, '.gitignore');
  return {
    /** What `.env` sets. @throws if it cannot be read and written */
    variables: async (): Promise<Variables> => {
      await checkWritable(env);
      await checkWritable(gitignore);
      return variablesIn(await textOf(env));
    },
    /** Adds the variables that `.env` does not set. Returns their names. */
    add: async (variables: Variables): Promise<readonly string[]> => {
      const { text, added } = withVariables(await textOf(env), variables);
      // First, so that no commit of another program finds the keys.
      const ignored = withIgnored(await textOf(gitignore));
      if (ignored !== null) await writeFile(gitignore, ignored);
      if (added.length === 0) return added;
      await writeFile(env, '', { flag: 'a', mode: PRIVATE });
      await chmod(env, PRIVATE);
      await writeFile(env, text);
      return added;
    },
  };
};
