import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';

// The schema is the copy in the linter dclint. The linter's own rules concern order and style and
// are not used. The schema declares draft 7 by a URI that Ajv does not accept.
const linter = path.dirname(createRequire(import.meta.url).resolve('dclint/package.json'));
const { $schema: _draft, ...schema } = JSON.parse(
  readFileSync(path.join(linter, 'schemas/compose.schema.json'), 'utf8'),
);
const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);

/** What is wrong with a file of Compose, by the schema of its specification. */
export const composeFaults = (compose: unknown): unknown[] => {
  validate(compose);
  return validate.errors ?? [];
};
