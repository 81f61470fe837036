import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from '@jest/globals';

test('the committed schemas are what the migrations make', async () => {
  const script = path.join(import.meta.dirname, 'dump-schema.ts');
  // Its complaint names the file; a failure shows it.
  await promisify(execFile)(process.execPath, [script, '--check']);
});
