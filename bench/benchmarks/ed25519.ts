import { randomBytes } from 'node:crypto';
import * as noble from '@noble/ed25519';
import {
  privateKeyFromSeed,
  publicKeyFromRaw,
  rawPublicKey,
  signBytes,
  verifyBytes,
} from '../../shared/lib/ed25519.ts';
import { compare, type Side } from '../harness/rounds.ts';
import type { Benchmark } from '../harness/run.ts';
import { sampleOf } from '../harness/statistics.ts';

const AT_ONCE = 50;

/** Figures for docs/adr/0004. */
export const ed25519: Benchmark = {
  about: 'signing and verifying with node:crypto against @noble/ed25519, without a stack',
  run: async (run) => {
    const seed = randomBytes(32);
    const message = randomBytes(700);
    const privateKey = privateKeyFromSeed(seed);
    const publicKey = rawPublicKey(privateKey);
    const verifyKey = publicKeyFromRaw(publicKey);
    const signature = signBytes(message, privateKey);
    const side = (name: string, work: () => unknown): Side => ({
      name,
      round: async (seconds) => {
        const times: number[] = [];
        const startedAt = performance.now();
        while (performance.now() < startedAt + seconds * 1000) {
          // One call is too short for the clock's resolution.
          const from = performance.now();
          for (let i = 0; i < AT_ONCE; i += 1) await work();
          const each = (performance.now() - from) / AT_ONCE;
          times.push(...Array<number>(AT_ONCE).fill(each));
        }
        return sampleOf(times, performance.now() - startedAt);
      },
    });
    await compare(run, 'sign', [
      side('node:crypto', () => signBytes(message, privateKey)),
      side('@noble/ed25519', () => noble.signAsync(message, seed)),
    ]);
    await compare(run, 'verify', [
      side('node:crypto', () => verifyBytes(message, signature, verifyKey)),
      side('@noble/ed25519', () => noble.verifyAsync(signature, message, publicKey)),
    ]);
  },
};
