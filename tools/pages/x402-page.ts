import { readFileSync } from 'node:fs';
import path from 'node:path';
import { x402ReasonOf } from '../../services/settlement/incoming/model/x402-reasons.ts';
import { SHAPES } from '../../test/support/fixtures/chain-submitter/payment-shapes.ts';

const FILE = path.resolve(import.meta.dirname, '../../docs/x402.md');
const HEADING = '### What wallets send\n';
const PREFIX = 'invalid_exact_svm_payload_';

/**
 * `docs/x402.md` with the table of the shapes of
 * test/support/fixtures/chain-submitter/payment-shapes.ts.
 */
export const x402Page = (): string => {
  const page = readFileSync(FILE, 'utf8');
  const start = page.indexOf('| Transaction | Answer |', page.indexOf(HEADING));
  const end = page.indexOf('\n\n', start);
  if (!page.includes(HEADING) || start < 0 || end < 0)
    throw new Error(`${FILE} has no table under "${HEADING.trim()}"`);
  const rows = SHAPES.map(({ shape, answer, why }) => {
    const shown = answer === 'signed' ? 'signed' : `\`${x402ReasonOf(answer).replace(PREFIX, '…')}\``;
    return `| ${shape} | ${shown} | ${why} |`;
  });
  const table = ['| Transaction | Answer | Why |', '| --- | --- | --- |', ...rows].join('\n');
  return page.slice(0, start) + table + page.slice(end);
};
