// The entry point of the image: the argument `settlement` runs services/settlement/main.js, and
// `migrate` runs shared/jobs/migrate.js.
import './signals.mjs';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;

/** A line as the logger of the programs writes it. */
const logFatal = (fields) => console.error(JSON.stringify({ level: 60, time: Date.now(), ...fields }));

const name = process.argv[2] ?? '';
const file = ['services/NAME/main.js', 'shared/jobs/NAME.js']
  .map((place) => path.join(root, place.replace('NAME', name)))
  .find((place) => /^[a-z]+(-[a-z]+)*$/.test(name) && existsSync(place));

if (file === undefined) {
  const services = globSync('services/*/main.js', { cwd: root }).map((place) => place.split('/')[1]);
  const jobs = globSync('shared/jobs/*.js', { cwd: root }).map((place) => path.basename(place, '.js'));
  const names = [...services, ...jobs].sort().join(', ');
  logFatal({ msg: `the image has no program "${name}": name one of ${names}` });
  process.exit(78); // EX_CONFIG of sysexits.h
}
try {
  await import(file);
} catch (error) {
  const { name: type, message, stack } = error;
  logFatal({ service: name, err: { type, message, stack }, msg: 'start failed' });
  process.exit(1);
}
