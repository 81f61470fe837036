import { statOf } from '../../../deploy/local/processes/process-stat.ts';

/**
 * The CPU seconds, user and system, of this process and of all its descendants that have ended. A
 * system without /proc answers those of this process alone.
 */
export const cpuSeconds = (): number => {
  const stat = statOf(process.pid);
  if (stat !== undefined) return stat.cpuMs / 1000;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
