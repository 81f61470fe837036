import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { parseBody } from './body.ts';
import { type RawInput, rawInputOf } from './input.ts';

/** No body that names a payment is larger: a quote token has at most 16 kB. */
const MAX_BYTES = 64 * 1024;
/** How long the body of a call that is refused anyway may take to arrive. */
const MAX_MS = 1000;

const readBytes = async ({ raw }: FastifyRequest): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  const whole = new Promise<boolean>((resolve) => {
    raw.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BYTES) resolve(false);
      else chunks.push(chunk);
    });
    raw.once('end', () => resolve(true)).once('close', () => resolve(false));
  });
  return (await Promise.race([whole, sleep(MAX_MS, false, { ref: false })]))
    ? Buffer.concat(chunks)
    : undefined;
};

/**
 * The fields of a call that was refused before its body was read, as by its credential. They decide
 * nothing but what the refusal reports about money: a call that names no payment has moved none.
 * @returns undefined if the body was read before, or shows no fields
 */
export const fieldsOfRefused = async (request: FastifyRequest): Promise<RawInput | undefined> => {
  if (request.raw.readableDidRead || Number(request.headers['content-length'] ?? 0) > MAX_BYTES)
    return undefined;
  const bytes = await readBytes(request);
  if (bytes === undefined) return undefined;
  try {
    return rawInputOf(request, parseBody(bytes));
  } catch {
    return undefined;
  }
};
