// The entry point of the image: the argument `settlement` runs services/settlement/main.js, and
// `migrate` runs shared/jobs/migrate.js.
import './signals.mjs';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;
const name = process.argv[2] ?? '';
const file = ['services/NAME/main.js', 'shared/jobs/NAME.js']
  .map((place) => path.join(root, place.replace('NAME', name)))
  .find((place) => /^[a-z]+(-[a-z]+)*$/.test(name) && existsSync(place));

if (file === undefined) {
  const services = globSync('services/*/main.js', { cwd: root }).map((place) => place.split('/')[1]);
  const jobs = globSync('shared/jobs/*.js', { cwd: root }).map((place) => path.basename(place, '.js'));
  console.error(
    `the image has no program "${name}": name one of ${[...services, ...jobs].sort().join(', ')}`,
  );
  process.exit(78); // EX_CONFIG of sysexits.h
}
await import(file);
