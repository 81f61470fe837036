// Shows the dashboards of `npm start -- --dashboards`.
import { createDashboardServer } from './server.ts';

const app = await createDashboardServer(process.env.PROMETHEUS_URL ?? '');
await app.listen({ host: '127.0.0.1', port: Number(process.env.DASHBOARDS_PORT) });
process.on('SIGTERM', () => process.exit(0));
