import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';

/** A request as a receiver of webhooks got it. */
type Received = { path: string; headers: Record<string, string>; body: string };
export type Receiver = {
  url: string;
  /** Whole requests, in their order. */
  received: Received[];
  /** All connections that were opened, also those that sent nothing. */
  connections: () => number;
  /** The largest number of concurrent requests. */
  mostAtOnce: () => number;
  stop: () => Promise<void>;
};
/** Answers a request that has arrived. A function that does nothing makes the request hang. */
export type Answer = (response: http.ServerResponse, request: Received) => void;

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);
export const hang: Answer = () => {};

/** A self-signed certificate for a name and 127.0.0.1, as PEM with its key. */
export const selfSigned = async (name: string): Promise<{ cert: string; key: string }> => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      notBefore: new Date(Date.now() - 3600_000),
      notAfter: new Date(Date.now() + 24 * 3600_000),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: name },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto as unknown as typeof globalThis.crypto,
  );
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n`;
  return { cert: certificate.toString('pem'), key };
};

/** A server on this machine with the given behaviour. */
export const startReceiver = async (
  behave: Answer,
  tls?: { cert: string; key: string },
): Promise<Receiver> => {
  const received: Received[] = [];
  let [connections, atOnce, most] = [0, 0, 0];
  const handle: http.RequestListener = (request, response) => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    response.on('close', () => {
      atOnce -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const whole = {
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      received.push(whole);
      behave(response, whole);
    });
  };
  const server = tls === undefined ? http.createServer(handle) : https.createServer(tls, handle);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    mostAtOnce: () => most,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
