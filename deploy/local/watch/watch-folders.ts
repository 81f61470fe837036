import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import path from 'node:path';

/**
 * Calls back with each file that changes, relative to the root. Node's own recursive watch loses a
 * file that an editor replaces, so each folder is watched by itself.
 * @returns what ends it
 */
export const watchFolders = (
  root: string,
  folders: readonly string[],
  onChange: (file: string) => void,
): (() => void) => {
  const isFolder = (file: string): boolean =>
    statSync(path.join(root, file), { throwIfNoEntry: false })?.isDirectory() === true;
  const watched = new Map<string, FSWatcher>();
  const add = (folder: string): void => {
    if (watched.has(folder)) return;
    const forget = () => watched.delete(folder);
    const watcher = watch(path.join(root, folder), (_event, name) => {
      if (name === null) return;
      const file = path.join(folder, name);
      if (isFolder(file)) add(file);
      else onChange(file);
    })
      .on('close', forget)
      .on('error', forget)
      .unref();
    watched.set(folder, watcher);
    for (const name of readdirSync(path.join(root, folder)))
      if (isFolder(path.join(folder, name))) add(path.join(folder, name));
  };
  for (const folder of folders) add(folder);
  return () => {
    for (const watcher of watched.values()) watcher.close();
  };
};
