import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { programNames } from '../../../deploy/local/stack/programs.ts';
import { PORTS } from './flows.ts';
import { podOf, type Rendered, root } from './render.ts';

const services: readonly string[] = programNames;

const read = new Map<string, string>();

/** All code of a service, read once. */
const codeOf = (service: string): string => {
  let code = read.get(service);
  if (code === undefined) {
    code = globSync(`services/${service}/**/*.ts`, { cwd: root })
      .filter((file) => !/\.test\.ts$|test-support/.test(file))
      .map((file) => readFileSync(path.join(root, file), 'utf8'))
      .join('\n');
    read.set(service, code);
  }
  return code;
};

/**
 * The connections that the code makes, derived from the imports of its services, and those of the
 * servers that the overlays add.
 */
export function flowsOfCode(objects: readonly Rendered[]): Set<string> {
  const flows = new Set<string>();
  const add = (from: string, to: string, ...ports: number[]) => {
    for (const port of ports) flows.add(`${from} → ${to}:${port}`);
  };
  const pods = objects.filter((object) => podOf(object) || object.kind === 'Cluster');
  const named = (name: string) =>
    pods.filter(({ metadata }) => metadata.name === name).map((each) => each.metadata);
  const nameIn = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;
  const beside = (own: Rendered, name: string) =>
    named(name)
      .filter(({ namespace }) => namespace === own.metadata.namespace)
      .map(nameIn);

  // The policies name all servers of Postgres by one label: a service without the password of
  // another's gets no further.
  const databasesBeside = (own: Rendered) =>
    pods
      .filter(({ metadata }) => /^postgres(-|$)/.test(metadata.name))
      .filter(({ metadata }) => metadata.namespace === own.metadata.namespace)
      .map(({ metadata }) => nameIn(metadata));

  for (const pod of pods) {
    const own = nameIn(pod.metadata);
    const name: string = pod.metadata.name;
    add(own, 'kube-system', 53);
    if (['migrate', 'backup', 'drill', 'restore'].includes(name))
      for (const to of databasesBeside(pod)) add(own, to, 5432);
    // A restore waits for the chain, and a drill asks it.
    const asksChain = name === 'restore' || name === 'drill';
    if (asksChain && beside(pod, 'chain').length === 0)
      for (const to of ['internet', 'internet6']) add(own, to, 443);
    if (name === 'synthetic') {
      for (const to of ['internet', 'internet6', 'ingress']) add(own, to, 443);
      add('monitoring', own, 9464);
    }
    if (name === 'setup-bus') for (const to of beside(pod, 'nats')) add(own, to, 4222);
    // The services use the chain with the scenarios, and a restore reads where they read.
    if (name === 'seed') for (const to of beside(pod, 'chain')) add(own, to, 8899);
    if (asksChain) for (const to of beside(pod, 'chain')) add(own, to, 8901);
    if (name === 'nats') add(own, own, 6222);
    if (pod.kind === 'Cluster') {
      add(own, own, 5432, 8000);
      add('cnpg-system', own, 5432, 8000);
      add('monitoring', own, 9187);
      // Its instances call the API server, which no policy can name.
      for (const to of OUTSIDE_OF_ALL) add(own, to, 443, 6443);
    }
    if (!services.includes(name)) continue;

    const code = codeOf(name);
    add(own, 'monitoring', 4318);
    add('monitoring', own, 9464);
    if (name === 'gateway') {
      add('ingress', own, 3000);
      for (const to of named('nats')) add(own, nameIn(to), 4222);
    } else if (/shared\/(boot|bus\/connect)\.ts'/.test(code))
      for (const to of beside(pod, 'nats')) add(own, to, 4222);
    if (/shared\/(boot|db\/pool)\.ts'/.test(code)) for (const to of databasesBeside(pod)) add(own, to, 5432);
    if (/from 'ioredis'/.test(code)) for (const to of beside(pod, 'redis')) add(own, to, 6379);
    if (/\bfetch\(|from 'node:https'|from 'undici'/.test(code)) {
      // A service that calls an address named by a vendor restricts the ports in this file.
      const named = existsSync(path.join(root, `services/${name}/sender/target.ts`));
      const ports = named ? PORTS.filter((port) => port === 443 || port >= 1024) : [443];
      const chains = name === 'chain-submitter' ? beside(pod, 'chain') : [];
      for (const to of chains) add(own, to, 8901);
      if (chains.length === 0) for (const to of ['internet', 'internet6']) add(own, to, ...ports);
    }
    if (/from 'nodemailer'/.test(code)) {
      const catchers = beside(pod, 'mail');
      for (const to of catchers) add(own, to, 1025);
      if (catchers.length === 0) for (const to of ['internet', 'internet6']) add(own, to, 465, 587);
    }
  }
  return flows;
}

const OUTSIDE_OF_ALL = [
  'kube-system',
  'stranger',
  'cnpg-system',
  'nack-system',
  'monitoring',
  'ingress',
  'internet',
  'internet6',
  'private',
  'private6',
  'metadata',
];
