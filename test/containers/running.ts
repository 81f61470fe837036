import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { waitFor } from '../support/base/wait.ts';
import { run } from './command.ts';
import type { Installation } from './payment.ts';

/** What `npm run prove -- containers` hands to the tests of its folder. */
type Given = { docker: string; installation: Installation; folder: string; compose: string[] };
const given = (): Given => {
  if (process.env.CONTAINERS === undefined)
    throw new Error('these tests need running containers: start them by `npm run prove -- containers`');
  return JSON.parse(process.env.CONTAINERS) as Given;
};
export const { installation, folder } = given();

/** Runs the engine's client and returns its output without the last line break. */
export const docker = async (...args: string[]): Promise<string> =>
  (await run(given().docker, args)).trimEnd();
export const compose = (...args: string[]): Promise<string> => docker(...given().compose, ...args);

type Service = { image: string; command?: string[]; env_file?: string[]; profiles?: string[] };
const { services: all } = parse(readFileSync(path.join(folder, 'deploy/compose.yaml'), 'utf8'), {
  merge: true,
}) as { services: Record<string, Service> };
/** The services of compose.yaml that run, by name. */
export const services = Object.fromEntries(
  Object.entries(all).filter(([, { profiles }]) => profiles === undefined),
);

/** The containers by service, read once: a restart keeps the container. */
let containers: Promise<Map<string, string>> | undefined;
const readContainers = async (): Promise<Map<string, string>> => {
  const lines = await compose('ps', '--all', '--format', '{{.Service}} {{.ID}}');
  return new Map(lines.split('\n').map((line) => line.split(' ') as [string, string]));
};

/** The container of a service, also if it has ended. */
export const containerOf = async (service: string): Promise<string> => {
  containers ??= readContainers();
  return (await containers).get(service)!;
};

/** What the engine knows of a container, as far as the tests read it. */
type Inspected = {
  State: { Status: string; ExitCode: number; Health?: { Status: string } };
  RestartCount: number;
  Config: { User: string; Image: string };
  HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[]; Privileged: boolean };
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
};
export const inspect = async (container: string): Promise<Inspected> =>
  (JSON.parse(await docker('inspect', container)) as Inspected[])[0]!;

/** Runs a script with Node inside a service's container and returns what it prints. */
export const nodeIn = async (service: string, script: string): Promise<string> =>
  docker('exec', await containerOf(service), 'node', '--input-type=module', '--eval', script);

/** Waits until every container that has a health check reports that it is healthy. */
export const allHealthy = async (): Promise<void> => {
  const containers = (await compose('ps', '--quiet')).split('\n');
  await waitFor(
    async () => {
      const format = '{{if .State.Health}}{{.Name}} {{.State.Health.Status}}{{end}}';
      const lines = (await docker('inspect', '--format', format, ...containers)).split('\n');
      return lines.filter((line) => line !== '' && !line.endsWith(' healthy'));
    },
    (unhealthy) => unhealthy.length === 0,
    300_000,
    500,
  );
};
