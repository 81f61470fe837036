import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The state of a listening socket in /proc/net/tcp (man 5 proc). */
const LISTENING = '0A';

/** The inodes of the sockets that listen on a port, in one of the tables of the system. */
const listeningOn = (table: string, port: number): string[] =>
  readFileSync(table, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING && Number.parseInt(fields[1]!.split(':')[1]!, 16) === port)
    .map((fields) => fields[9]!);

/**
 * Whether a process itself listens on a TCP port. An answer on the port does not show it: another
 * program may have taken the port first.
 * @returns true also where the system does not tell, which is everywhere but on Linux
 */
export const listensOn = (pid: number, port: number): boolean => {
  try {
    const sockets = ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((table) => listeningOn(table, port))
      .map((inode) => `socket:[${inode}]`);
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((name) => sockets.includes(linkOf(`${folder}/${name}`)));
  } catch {
    return true;
  }
};

/** Empty: it was closed a moment ago. */
const linkOf = (file: string): string => {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
};
