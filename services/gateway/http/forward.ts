import { forward as forwardOnBus } from '../../../shared/bus/call.ts';
import { REQUEST_ID } from '../../../shared/bus/trace.ts';
import type { HttpOperation, ServiceContract } from '../../../shared/contract/service.ts';
import type { Authenticated } from '../credentials/authenticate.ts';

/** A successful answer; `body` is null for 204. */
type Answer = { status: number; body: unknown; headers: Record<string, string> };

/**
 * Status and headers of a result, as the contract defines them (settle answers 202 for a pending
 * payment).
 */
export const answerOf = ({ http }: Pick<HttpOperation, 'http'>, result: unknown): Answer => {
  const { alternative, status } = http;
  if (alternative !== undefined) {
    const value = (result as Record<string, unknown> | null)?.[alternative.field];
    if (value === alternative.equals) {
      const headers = { 'retry-after': String(alternative.retryAfterSeconds) };
      return { status: alternative.status, body: result, headers };
    }
  }
  return { status, body: status === 204 ? null : result, headers: {} };
};

/**
 * Sends a validated call to its service and waits for the answer. Throws the errors of the service.
 */
export const forward = (
  contract: ServiceContract,
  name: string,
  input: unknown,
  { environment, principal }: Authenticated,
  call: { requestId: string; idempotencyKey: string | undefined; onReplay: () => void },
): Promise<unknown> =>
  forwardOnBus(environment.bus(), contract, name, input, principal, {
    timeoutMs: contract.operations[name]!.timeoutSeconds * 1000,
    headers: { [REQUEST_ID]: call.requestId },
    idempotencyKey: call.idempotencyKey,
    onReplay: call.onReplay,
  });
