import { decideDeviceSignIn } from './decide-device-sign-in.ts';
import { pollDeviceSignIn } from './poll-device-sign-in.ts';
import { readDeviceSignIn } from './read-device-sign-in.ts';
import { startDeviceSignIn } from './start-device-sign-in.ts';

/** The operations of devices, for main.ts and for the tests that serve them over a real bus. */
export const deviceOperations = (
  deps: Parameters<typeof startDeviceSignIn>[0] & Parameters<typeof pollDeviceSignIn>[0],
) => ({
  decideDeviceSignIn: decideDeviceSignIn(deps),
  pollDeviceSignIn: pollDeviceSignIn(deps),
  readDeviceSignIn: readDeviceSignIn(deps),
  startDeviceSignIn: startDeviceSignIn(deps),
});
