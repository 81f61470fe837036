import { totals } from './last-line.ts';
import { removeOldCompiledCode } from './test-state.ts';

/** What every run needs. The suites of a release start their own servers. */
export default function setUp(): void {
  totals();
  removeOldCompiledCode();
}
