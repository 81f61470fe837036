import type { FastifyInstance } from 'fastify';
import { createInMemoryWindow } from '../limits/in-memory-window.ts';
import { admit } from '../limits/quota.ts';
import { addressGroup } from '../requests/address.ts';

/** One view of a receipt requests three files. */
const LIMIT = { points: 360, windowSeconds: 60, per: 'ip' } as const;

/**
 * The page may run its own script and read the public keys of this origin, nothing else. No string
 * becomes markup, because a receipt may come from anyone.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' } as const;

/** The texts of receipt.html, receipt.css and receipt.js. */
export type ReceiptPage = Record<keyof typeof TYPES, string>;

/**
 * GET /receipt and its two files. The receipt is in the fragment of the page's address, so it never
 * arrives here.
 */
export const registerReceipt = (app: FastifyInstance, page: ReceiptPage): void => {
  const window = createInMemoryWindow();
  for (const [url, kind] of [
    ['/receipt', 'html'],
    ['/receipt.css', 'css'],
    ['/receipt.js', 'js'],
  ] as const)
    app.get(url, async (request, reply) => {
      const state = window.consume(addressGroup(request.origin.address), LIMIT.points, LIMIT.windowSeconds);
      admit(reply, [{ ...LIMIT, ...state }]);
      return reply.type(`${TYPES[kind]}; charset=utf-8`).headers(HEADERS).send(page[kind]);
    });
};
