import type { Records } from '../../../shared/boot.ts';
import type { Terms } from '../terms.ts';
import { decideDeviceSignIn } from './decide-device-sign-in.ts';
import { pollDeviceSignIn } from './poll-device-sign-in.ts';
import { readDeviceSignIn } from './read-device-sign-in.ts';
import { startDeviceSignIn } from './start-device-sign-in.ts';

/** The operations of devices. */
export const deviceOperations = (deps: Records & Terms & { sendMailsNow: () => void }) => ({
  decideDeviceSignIn: decideDeviceSignIn(deps),
  pollDeviceSignIn: pollDeviceSignIn(deps),
  readDeviceSignIn: readDeviceSignIn(deps),
  startDeviceSignIn: startDeviceSignIn(deps),
});
