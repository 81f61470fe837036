// Collects the traces of `npm start -- --traces` and shows them.
import { createTraceServer } from './server.ts';

await createTraceServer().listen({ host: '127.0.0.1', port: Number(process.env.TRACES_PORT) });
process.on('SIGTERM', () => process.exit(0));
