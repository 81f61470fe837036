import type { WithStack } from './e2e-setup.ts';

type Suite = { context: { config: { globalSetup?: string | null } } };

const usesStack = ({ context }: Suite): boolean =>
  context.config.globalSetup?.endsWith('/e2e-setup.ts') ?? false;

/**
 * Stops the common stack when the last suite that uses it has ended. These suites run first
 * (sequencer.js), and the idle stack would take an eighth of two cores from all others.
 */
export default class StackReporter {
  private running = 0;
  private othersStarted = false;

  onTestFileStart(suite: Suite): void {
    if (usesStack(suite)) this.running += 1;
    else this.othersStarted = true;
    this.stopIfUnused();
  }

  onTestFileResult(suite: Suite): void {
    if (usesStack(suite)) this.running -= 1;
    this.stopIfUnused();
  }

  private stopIfUnused(): void {
    // It can be stopped twice: the tear-down waits for the end.
    if (this.othersStarted && this.running === 0) void (globalThis as WithStack).testStack?.stop();
  }
}
