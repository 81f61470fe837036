import type { Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';

type Pixels = { width: number; height: number; data: number[] };

/** Runs in a page. */
const PIXELS = `async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { width, height } = picture;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  canvas.drawImage(picture, 0, 0);
  return { width, height, data: [...canvas.getImageData(0, 0, width, height).data] };
}`;

/** The text of the code that a page draws, read from its pixels as a phone reads it. */
export const readQr = async (page: Page, name: string): Promise<string> => {
  const code = page.getByRole('img', { name });
  await code.scrollIntoViewIfNeeded();
  const png = (await code.screenshot()).toString('base64');
  // Another page decodes the picture, because the policy of this one allows no such address.
  const blank = await page.context().newPage();
  try {
    const { data, ...size } = await blank.evaluate<Pixels>(`(${PIXELS})('${png}')`);
    return decodeQR({ ...size, data: Uint8Array.from(data) }, { timeLimit: 10_000 });
  } finally {
    await blank.close();
  }
};
