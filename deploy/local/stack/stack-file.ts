import { rmSync } from 'node:fs';
import { writeAtomically } from '../processes/atomic-file.ts';

/** `.local/stack.json`: what runs and where, for tools and tests. Its field names are a contract with them. */
export type Stack = {
  gateway_url: string;
  /** Of every instance of the gateway, the first one's first. */
  gateway_urls: string[];
  mail_url: string;
  console_url: string;
  docs_url: string;
  /** Superuser, the first environment's database. */
  postgres_url: string;
  /** The first environment's account, with all rights in it. */
  nats_url: string;
  redis_url: string;
  environments: Record<string, StackEnvironment>;
  /** Prometheus page of each service process, by its name in `processes`. */
  metrics: Record<string, string>;
  /** Page with the traces, as JSON under `/traces`; null where they are not collected here. */
  traces_url: string | null;
  /** Name → pid; a second environment's have the suffix `@live`, a second instance `#2`. */
  processes: Record<string, number>;
};

export type StackEnvironment = {
  rpc_url: string;
  ws_url: string;
  usdc_mint: string;
  /** Owner of the token account that fees go to. */
  fee_wallet: string;
  fee_payer: string;
  /** Sandboxes of the fiat providers. */
  /** The operators' own user on the bus (`npm run ops`). */
  operator_nats_url: string;
  moonpay_url: string;
  coinbase_url: string;
};

/** Readable by its owner alone: the URLs hold passwords. */
export function writeStackFile(file: string, stack: Stack): void {
  writeAtomically(file, `${JSON.stringify(stack, null, 2)}\n`, 0o600);
}

export function removeStackFile(file: string): void {
  rmSync(file, { force: true });
}
