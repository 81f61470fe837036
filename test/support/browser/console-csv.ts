import { text } from 'node:stream/consumers';
import type { ConsolePage } from './console.ts';

/** Clicks “Export as CSV” and returns the downloaded file. */
export const exportCsv = async ({ page }: ConsolePage): Promise<{ name: string; text: string }> => {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV', exact: true }).click(),
  ]);
  // The browser of the suites has the file, not this process.
  return { name: file.suggestedFilename(), text: await text(await file.createReadStream()) };
};
