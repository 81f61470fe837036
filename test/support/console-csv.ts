import { readFileSync } from 'node:fs';
import type { ConsolePage } from './console.ts';

/** Clicks “Export as CSV” and returns the downloaded file. */
export const exportCsv = async ({ page }: ConsolePage): Promise<{ name: string; text: string }> => {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV', exact: true }).click(),
  ]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
};
