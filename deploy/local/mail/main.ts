// The mail catcher of the local stack: SMTP in, HTTP out. It delivers nothing.
import { once } from 'node:events';
import { mailHttp } from './http.ts';
import { mailReceiver } from './smtp.ts';
import { openMailStore } from './store.ts';

// In a container it listens on all addresses, and Compose publishes the port only to this machine.
const { MAIL_HOST = '127.0.0.1', MAIL_SMTP_PORT, MAIL_HTTP_PORT, MAIL_DATA_DIR } = process.env;
if (!MAIL_SMTP_PORT || !MAIL_HTTP_PORT || !MAIL_DATA_DIR) {
  console.error('MAIL_SMTP_PORT, MAIL_HTTP_PORT and MAIL_DATA_DIR must be set');
  process.exit(78);
}

const store = openMailStore(MAIL_DATA_DIR);
const smtp = mailReceiver(store.add);
// A client that disconnects early is not an error of the server.
smtp.on('error', (error) => console.error(`smtp: ${error.message}`));
smtp.listen(Number(MAIL_SMTP_PORT), MAIL_HOST);
const http = mailHttp(store).listen(Number(MAIL_HTTP_PORT), MAIL_HOST);
await once(http, 'listening');
process.on('SIGTERM', () => process.exit(0));
