import * as z from 'zod';
import { InvalidRequestError } from './errors.ts';

/** The request that a model asks for. */

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Set by the payment, by the connection, or by the proxy in front of a vendor. */
const FORBIDDEN =
  /^(x-settlement-.*|x-payment.*|payment-.*|x-quote-refused|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

export const addressFields = {
  // Not `z.url` and `z.record`: models of some hosts refuse their `format` and `propertyNames`.
  url: z.string().max(4096).describe('The http(s) address to call'),
  headers: z
    .object({})
    .catchall(z.string().max(8192))
    .optional()
    .describe('Headers of the request. Headers of the payment and of the connection are not accepted'),
};
export const requestFields = {
  ...addressFields,
  method: z.enum(METHODS).optional().describe('Default: GET'),
  body: z.string().max(1_400_000).optional().describe('The body of the request'),
  body_encoding: z
    .enum(['text', 'base64'])
    .optional()
    .describe('base64: `body` is base64 of the bytes to send. Default: text'),
};

type Fields = {
  url: string;
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
  body_encoding?: 'text' | 'base64' | undefined;
};

/** @throws InvalidRequestError that names an argument that is not accepted */
export const requestOf = ({
  url,
  method = 'GET',
  headers = {},
  body,
  body_encoding = 'text',
}: Fields): RequestInit => {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new InvalidRequestError('url must be an address like https://api.example.com/report.');
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name))
      throw new InvalidRequestError(`${JSON.stringify(name)} is not the name of a header.`);
    if (FORBIDDEN.test(name.toLowerCase()))
      throw new InvalidRequestError(`The header ${name} is set by this server and is not accepted.`);
    // The credential of another payment protocol.
    if (/^authorization$/i.test(name) && /^\s*payment\s/i.test(value))
      throw new InvalidRequestError('A payment in the header authorization is not accepted.');
  }
  if (body !== undefined && method === 'GET') throw new InvalidRequestError('A GET has no body.');
  const bytes = body === undefined ? null : Buffer.from(body, body_encoding === 'text' ? 'utf8' : 'base64');
  return { method, headers, ...(bytes === null ? {} : { body: new Uint8Array(bytes) }) };
};
