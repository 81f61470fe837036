import type { ServerAlarm } from './server-alarm.ts';
import { OTHER_ALARMS } from './servers-others.ts';
import { STORAGE_ALARMS } from './servers-storage.ts';

/** The alarms about the servers, with the place where they are explained. */
export const SERVER_ALARMS: readonly (readonly [name: string, alarm: ServerAlarm])[] = [
  ...Object.entries<ServerAlarm>(STORAGE_ALARMS),
  ...Object.entries<ServerAlarm>(OTHER_ALARMS),
].map(
  ([name, alarm]) => [name, { ...alarm, runbook: `docs/runbook-servers.md#${name.toLowerCase()}` }] as const,
);
