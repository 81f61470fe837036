import type { BlockList } from 'node:net';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PublicKeys } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Authenticate } from './credentials.ts';
import type { GatewayEnvironment } from './environments.ts';
import type { Limits } from './limits.ts';
import type { Readiness } from './readiness.ts';

/** What the gateway's own handlers depend on. */
export type OwnDeps = {
  clock: Clock;
  publicKeys: PublicKeys;
  readiness: Readiness;
  /** Environment → address of its mint of USDC. */
  usdcMints: Readonly<Record<string, string>>;
};

/** What the HTTP side depends on; main.ts builds it. */
export type Deps = OwnDeps & {
  environments: ReadonlyMap<string, GatewayEnvironment>;
  authenticate: Authenticate;
  limits: Limits;
  logger: Logger;
  publicUrl: string;
  /** Origins of the pages that may keep a refresh token in the cookie. */
  browserOrigins: readonly string[];
  /** Origins whose scripts may call the API; `*` is all of them, without cookies. */
  corsOrigins: readonly string[] | '*' | undefined;
  trustedProxies: BlockList;
  /** The trusted proxies begin the traces themselves. */
  adoptsTraces: boolean;
};
