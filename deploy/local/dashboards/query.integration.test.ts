import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/base/wait.ts';
import { findBinary } from '../servers/binaries.mjs';
import { createPortPicker } from '../servers/ports.ts';
import { prometheusSpec } from '../stack/tool-specs.ts';
import { readDashboards } from './panels.ts';
import { type Lines, queryPanel } from './query.ts';

const hasPrometheus = findBinary('prometheus') !== undefined;
if (!hasPrometheus) console.warn('prometheus is not available: its dashboards are not tested');

(hasPrometheus ? test : test.skip)(
  'Prometheus of npm start reads the processes, and a panel shows what they count',
  async () => {
    const metrics = createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(
        '# TYPE quittance_attempts gauge\nquittance_attempts{environment="test",state="pending"} 7\n',
      );
    });
    await new Promise<void>((resolve) => metrics.listen(0, '127.0.0.1', resolve));
    const folder = mkdtempSync(path.join(tmpdir(), 'prometheus-'));
    const port = await createPortPicker().any();
    const target = `http://127.0.0.1:${(metrics.address() as AddressInfo).port}/metrics`;
    const spec = prometheusSpec(folder, port, [target]);
    await spec.prepare!();
    const child = spawn(spec.command, spec.args, { stdio: ['ignore', 'ignore', 'inherit'] });
    try {
      await waitFor(spec.ready, Boolean, 60_000);
      const panel = readDashboards()[0]!.panels.find(({ title }) => title === 'Attempts')!;
      const { series } = await waitFor<Lines>(
        () => queryPanel(`http://127.0.0.1:${port}`, panel, 1),
        (lines) => lines.series.some(({ values }) => values.includes(7)),
        60_000,
      );
      expect(series.map(({ label }) => label)).toEqual(['pending']);
    } finally {
      child.kill('SIGKILL');
      metrics.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  150_000,
);
