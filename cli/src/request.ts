import { readFile } from 'node:fs/promises';
import { FailedError, UsageError } from './errors.ts';
import type { Io } from './io.ts';

/** The request of `pay`, from options in the form of curl. */

const isJsonText = (bytes: Buffer): boolean => {
  try {
    const value = JSON.parse(bytes.toString()) as unknown;
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
};

const bodyOf = async (io: Io, data: string): Promise<Buffer> => {
  if (!data.startsWith('@')) return Buffer.from(data);
  if (data === '@-') return io.readInput();
  try {
    return await readFile(data.slice(1));
  } catch (error) {
    throw new FailedError(`-d: ${(error as Error).message}`, 'Check the name of the file.');
  }
};

/** @throws UsageError if a line is not `Name: value` */
const headersOf = (lines: readonly string[]): Headers => {
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    try {
      if (colon < 1) throw new TypeError('no colon');
      headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    } catch {
      // The line itself may hold a secret.
      throw new UsageError('-H: not a header like "Accept: application/json"');
    }
  }
  return headers;
};

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/i;
const WITHOUT_SCHEME = /^[a-z0-9.-]+(:\d{1,5})?(\/\S*)?$/i;

/** The address with the scheme that was left out. Empty: it is none. */
const meantBy = (address: string): string => {
  if (LOCAL.test(address)) return `; did you mean http://${address}?`;
  const isHost = WITHOUT_SCHEME.test(address) && address.split('/')[0]!.includes('.');
  return isHost && URL.canParse(`https://${address}`) ? `; did you mean https://${address}?` : '';
};

/** @throws UsageError if the address is not http(s), or the options contradict each other */
export const requestOf = async (
  io: Io,
  address: string,
  { request, header = [], data }: { request?: string; header?: string[]; data?: string },
): Promise<{ url: string; init: { method: string; headers: Headers; body?: Buffer } }> => {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `"${address}" is not an address like https://api.example.com/report${meantBy(address)}`,
    );
  const headers = headersOf(header);
  const method = (request ?? (data === undefined ? 'GET' : 'POST')).toUpperCase();
  if (!/^[A-Z]+$/.test(method)) throw new UsageError(`-X: "${method}" is not a method`);
  if (data === undefined) return { url: url.href, init: { method, headers } };
  if (method === 'GET' || method === 'HEAD') throw new UsageError(`${method} has no body: omit -d or use -X`);
  const body = await bodyOf(io, data);
  if (!headers.has('content-type'))
    headers.set('content-type', isJsonText(body) ? 'application/json' : 'application/x-www-form-urlencoded');
  return { url: url.href, init: { method, headers, body } };
};
