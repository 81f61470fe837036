import { removeOldCompiledCode } from '../servers/test-state.ts';
import { totals } from './last-line.ts';

/** What every run needs. The suites of a release start their own servers. */
export default function setUp(): void {
  totals();
  removeOldCompiledCode();
}
