// The entry of the image: `settlement` runs services/settlement/main.ts, `migrate` runs shared/jobs/migrate.ts.
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;
const name = process.argv[2] ?? '';
const file = ['services/NAME/main.ts', 'shared/jobs/NAME.ts']
  .map((place) => path.join(root, place.replace('NAME', name)))
  .find((place) => /^[a-z]+(-[a-z]+)*$/.test(name) && existsSync(place));

if (file === undefined) {
  const services = globSync('services/*/main.ts', { cwd: root }).map((place) => place.split('/')[1]);
  const jobs = globSync('shared/jobs/*.ts', { cwd: root }).map((place) => path.basename(place, '.ts'));
  console.error(`name one of ${[...services, ...jobs].sort().join(', ')}`);
  process.exit(78); // EX_CONFIG of sysexits.h
}
await import(file);
