import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** The only block of TypeScript in a page that contains a text. */
const blockWith = (page: string, text: string): string => {
  const found = [...page.matchAll(/```ts\n([\s\S]*?)```/g)]
    .map(([, code]) => code!)
    .filter((code) => code.includes(text));
  if (found.length !== 1)
    throw new Error(`sdk/README.md has ${found.length} blocks with ${text}, but must have exactly one`);
  return found[0]!.trim();
};
/**
 * The lines of one framework in the block with all frameworks, which are separated by empty lines.
 */
const partWith = (block: string, text: string): string => {
  const part = block.split('\n\n').find((each) => each.includes(text));
  if (part === undefined) throw new Error(`sdk/README.md has no lines for ${text}`);
  return part.trim();
};

/**
 * The content of the console's page of snippets, from `sdk/README.md` and `examples/`. The tests
 * run the examples, and the manual shows the same code, so the page cannot diverge from them.
 */
export const consoleExamples = (): string => {
  const readme = read('sdk/README.md');
  const adapters = blockWith(readme, "from '@quittance/sdk/express'");
  const framework = (name: string, example: string) => ({
    route: partWith(adapters, `@quittance/sdk/${name}`),
    example: read(example),
  });
  const examples = {
    client: blockWith(readme, 'vendor.quote.create('),
    pay: blockWith(readme, 'payingFetch(fetch'),
    paywall: blockWith(readme, 'createPaywall({'),
    buyerExample: read('examples/buyer.ts'),
    paywallExample: read('examples/paywall.ts'),
    shopExample: read('examples/shop.ts'),
    storeExample: read('examples/redis-store.ts'),
    webhookExample: read('examples/webhook.ts'),
    frameworks: {
      express: framework('express', 'examples/express.ts'),
      fastify: framework('fastify', 'examples/fastify.ts'),
      hono: framework('hono', 'examples/hono.ts'),
      next: framework('next', 'examples/next/app/report/route.ts'),
    },
  };
  return `// Written by \`npm run generate\` out of sdk/README.md and examples/; do not edit.\nexport const EXAMPLES = ${JSON.stringify(examples, null, 2)};\n`;
};
