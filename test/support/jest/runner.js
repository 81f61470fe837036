import circus from 'jest-circus/runner';
import { cpuSeconds } from './cpu.ts';

/**
 * Jest's own runner, which also counts the CPU of a suite: its modules, its tests, and the
 * processes that it started and stopped. The work that common servers do for it is not among them.
 */
export default async function runner(...args) {
  const before = cpuSeconds();
  // A CommonJS module: what it calls its default export is a property here.
  const result = await circus.default(...args);
  return { ...result, cpuSeconds: cpuSeconds() - before };
}
