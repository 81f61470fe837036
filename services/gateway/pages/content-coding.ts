/** Whether an Accept-Encoding header accepts a content coding. A weight of zero refuses it. */
export const acceptsCoding = (
  coding: 'br' | 'gzip',
  acceptEncoding: string | string[] | undefined,
): boolean =>
  new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(String(acceptEncoding ?? ''));
