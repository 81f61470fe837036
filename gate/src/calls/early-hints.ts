import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Passes the links of Early Hints (103) on as they were sent. Node's own method refuses what its
 * parser has read: two headers, and a quoted list of words.
 */
export const passHints = (
  response: ServerResponse,
  { statusCode, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>,
): void => {
  // Without a socket, an earlier request of the connection is still being answered.
  const { socket, req } = response;
  if (statusCode !== 103 || response.headersSent || req.httpVersionMinor === 0) return;
  if (socket === null || !socket.writable) return;
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === 'link') lines.push(`Link: ${rawHeaders[at + 1]}\r\n`);
  if (lines.length > 0) socket.write(`HTTP/1.1 103 Early Hints\r\n${lines.join('')}\r\n`, 'latin1');
};
