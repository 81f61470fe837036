import { contractList } from '../../shared/contract/index.ts';
import { openApiDocument } from '../../shared/contract/openapi.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';

/** The operations with a body, each with a valid one: the example of the API's document. */

export type Bodied = { id: string; operation: HttpOperation; body: Record<string, unknown> };

type Described = {
  operationId: string;
  requestBody?: { content: { 'application/json': { example?: Record<string, unknown> } } };
};

const examples = new Map(
  Object.values(openApiDocument({ serverUrl: '/' }).paths as Record<string, Record<string, Described>>)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId, requestBody }) => [operationId, requestBody?.content['application/json'].example]),
);

export const bodiedOperations: readonly Bodied[] = contractList.flatMap(({ name: service, operations }) =>
  Object.entries(operations).flatMap(([name, operation]) => {
    const id = `${service}.${name}`;
    const body = examples.get(id);
    return body === undefined ? [] : [{ id, operation, body }];
  }),
);
