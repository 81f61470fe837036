// Provides SoftHSM, a PKCS#11 token in software, for the tests of keys on tokens. Without it those
// tests are skipped with a message.
import { findBinary } from '../servers/binaries.mjs';
import { canExtract, extractPackages } from './debian-packages.mjs';

const PACKAGES = ['softhsm2', 'libsofthsm2'];
const TIMEOUT_MS = 60_000;

/** Extracts SoftHSM from the Debian packages without installing them. Never fails. */
export function ensureSofthsm(say) {
  if (findBinary('softhsm2-util') || !canExtract()) return;
  try {
    say(`extracting SoftHSM from the Debian packages ${PACKAGES.join(' and ')}`);
    extractPackages('softhsm', PACKAGES, TIMEOUT_MS);
  } catch {
    say('SoftHSM is not available; the tests of keys on PKCS#11 tokens will be skipped');
  }
}
