/** Whether a caller takes a content coding, by its Accept-Encoding; one with weight zero is refused. */
export const takes = (coding: 'br' | 'gzip', acceptEncoding: string | string[] | undefined): boolean =>
  new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(String(acceptEncoding ?? ''));
