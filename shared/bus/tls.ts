import type { ConnectionOptions } from 'nats';
import { tlsOf } from '../lib/transport.ts';

/**
 * The options of a connection to a `tls://` server. The client then refuses a server that offers no
 * TLS, so nobody on the way can strip it.
 */
export const busTls = (url: string, caFile: string | undefined): Pick<ConnectionOptions, 'tls'> => {
  const tls = tlsOf('NATS_URL', url, caFile);
  return tls === undefined ? {} : { tls };
};
