import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from '@jest/globals';

test('the committed schemas match the migrations', async () => {
  const script = path.join(import.meta.dirname, 'dump-schema.ts');
  // Its error names the file, and a failed test shows it.
  await promisify(execFile)(process.execPath, [script, '--check']);
});
