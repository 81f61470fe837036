import { rmSync } from 'node:fs';
import type { Databases } from '../../../shared/db/databases.ts';
import { writeAtomically } from '../processes/atomic-file.ts';

/**
 * The content of `.local/stack.json`: the processes and their addresses, for tools and tests, which
 * rely on the field names.
 */
export type Stack = {
  gateway_url: string;
  /** The URLs of all gateway instances, the first one first. */
  gateway_urls: string[];
  mail_url: string;
  console_url: string;
  docs_url: string;
  /** Service → a superuser's URL of its database in the first environment. They may be the same. */
  postgres_urls: Databases;
  nats_url: string;
  /** The seed of the user with all rights in the first environment's account. */
  nats_nkey_seed: string;
  redis_url: string;
  environments: Record<string, StackEnvironment>;
  /** The Prometheus page of each service process, by its name in `processes`. */
  metrics: Record<string, string>;
  /**
   * The page with the traces, which are also available as JSON under `/traces`; null if traces are
   * not collected here.
   */
  traces_url: string | null;
  /** The page with the dashboards; null without them. */
  dashboards_url: string | null;
  /** Name → pid. A second environment's names have the suffix `@live`, a second instance's `#2`. */
  processes: Record<string, number>;
};

export type StackEnvironment = {
  rpc_url: string;
  ws_url: string;
  usdc_mint: string;
  /** Owner of the token account that fees go to. */
  fee_wallet: string;
  fee_payer: string;
  /** The operators, who run `npm run ops`: name → the seed of the user on the bus. */
  operators: Record<string, string>;
  /** Sandboxes of the fiat providers. */
  moonpay_url: string;
  coinbase_url: string;
};

/** Only the owner may read the file, because it holds passwords and seeds. */
export function writeStackFile(file: string, stack: Stack): void {
  writeAtomically(file, `${JSON.stringify(stack, null, 2)}\n`, 0o600);
}

export function removeStackFile(file: string): void {
  rmSync(file, { force: true });
}
