import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { economicsMutations } from '../../economics/mutations.ts';
import { mutations } from './mutations.ts';

/**
 * Loaded with `node --import` before a service: applies the mutation in this URL to the service's
 * files while they are loaded.
 */
const name = new URL(import.meta.url).searchParams.get('name');
const mutation = [...mutations, ...economicsMutations].find((one) => one.name === name);
if (mutation === undefined) throw new Error(`there is no mutation ${name}`);

const root = path.resolve(import.meta.dirname, '../../..');
const { patches = [] } = mutation;
registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const own = patches.filter(({ file }) => pathToFileURL(path.join(root, file)).href === url);
    if (own.length === 0) return loaded;
    let source = Buffer.from(loaded.source as Uint8Array).toString();
    for (const { file, from, to } of own) {
      if (!source.includes(from)) throw new Error(`mutation ${name}: ${file} does not contain: ${from}`);
      source = source.replace(from, () => to);
    }
    return { ...loaded, source };
  },
});
