import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from './services.ts';

type Rights = { publish: string[]; subscribe: string[] };
type Migrate = {
  migrateEnvironment: (options: { adminUrl: string; passwords: Record<string, string> }) => Promise<void>;
  roleName: (environment: string, service: string) => string;
};
type BusSetup = {
  ensureStreams: (options: { servers: string; user?: string; pass?: string }) => Promise<void>;
};
type BusRights = { natsRights: () => Record<ServiceName, Rights> };

/** The parts of the product that the local stack calls. A part that is not in the tree yet is skipped. */
export const product = {
  migrate: () => load<Migrate>('../../shared/db/migrate.ts'),
  busSetup: () => load<BusSetup>('../../shared/bus/setup.ts'),
  busRights: () => load<BusRights>('../../shared/bus/rights.ts'),
};

async function load<Module>(file: string): Promise<Module | undefined> {
  const url = new URL(file, import.meta.url);
  return existsSync(fileURLToPath(url)) ? ((await import(url.href)) as Module) : undefined;
}
