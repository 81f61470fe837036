import type { ServiceName } from '../../../shared/contract/service.ts';
import type { TestBus } from './bus.ts';
import type { TestDatabase } from './database-handle.ts';

/** The settings that every service has, on a suite's own bus and database. */
export const serviceSettings = (
  service: ServiceName,
  { testBus, database }: { testBus: TestBus; database: TestDatabase },
) => ({
  ENVIRONMENT: 'test',
  HTTP_HOST: '127.0.0.1',
  HTTP_PORT: '0',
  NATS_URL: testBus.url,
  NATS_NKEY_SEED: testBus.seedOf(service),
  POSTGRES_URL: database.url(service),
});
