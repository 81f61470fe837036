import { createHash } from 'node:crypto';

/** What the API of a campaign delivers for a path. */
export const goodsOf = (path) => {
  const parts = Array.from({ length: 600 }, (_, part) =>
    createHash('sha256').update(`${path} ${part}`).digest(),
  );
  return Buffer.concat(parts);
};
