// Ed25519 on this machine: node:crypto against @noble/ed25519. Figures for docs/adr/0004. Run: node bench/ed25519.ts
import { randomBytes } from 'node:crypto';
import * as noble from '@noble/ed25519';
import {
  privateKeyFromSeed,
  publicKeyFromRaw,
  rawPublicKey,
  signBytes,
  verifyBytes,
} from '../shared/lib/ed25519.ts';

const ROUNDS = 5;
const CALLS = 500;
const seed = randomBytes(32);
const message = randomBytes(700);
const privateKey = privateKeyFromSeed(seed);
const publicKey = rawPublicKey(privateKey);
const verifyKey = publicKeyFromRaw(publicKey);
const signature = signBytes(message, privateKey);

const cases: Record<string, () => unknown> = {
  'sign    node:crypto': () => signBytes(message, privateKey),
  'sign    @noble/ed25519': () => noble.signAsync(message, seed),
  'verify  node:crypto': () => verifyBytes(message, signature, verifyKey),
  'verify  @noble/ed25519': () => noble.verifyAsync(signature, message, publicKey),
};
const times = new Map<string, number[]>();
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, run] of Object.entries(cases)) {
    const startedAt = performance.now();
    for (let i = 0; i < CALLS; i += 1) await run();
    // The first round warms up.
    if (round > 0)
      times.set(name, [...(times.get(name) ?? []), ((performance.now() - startedAt) * 1000) / CALLS]);
  }
}
console.log(`node ${process.version}, ${ROUNDS} rounds of ${CALLS} calls, µs per call: min / median / max`);
for (const [name, list] of times) {
  const sorted = list.toSorted((a, b) => a - b);
  console.log(
    `  ${name.padEnd(24)} ${[sorted[0], sorted[ROUNDS >> 1], sorted.at(-1)].map((t) => t!.toFixed(0)).join(' / ')}`,
  );
}
