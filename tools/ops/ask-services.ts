import { ServiceError } from '../../shared/contract/errors.ts';
import { type ServiceName, serviceNames } from './service-contracts.ts';
import { foldText } from './table.ts';

/**
 * The answers of all services. One that does not answer is named, and the others are shown, because
 * an incident is when the command is needed.
 */
export const askEach = async <Answer>(ask: (service: ServiceName) => Promise<Answer>) => {
  const unavailable: ServiceName[] = [];
  const answers = await Promise.all(
    serviceNames.map(async (service): Promise<{ service: ServiceName; answer?: Answer }> => {
      try {
        return { service, answer: await ask(service) };
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'service_unavailable') throw error;
        unavailable.push(service);
        return { service };
      }
    }),
  );
  return { answers, unavailable };
};

/** The warning under an output from which a service is missing. */
export const missingText = (unavailable: readonly ServiceName[]): string[] =>
  unavailable.length === 0
    ? []
    : [foldText(`No answer from ${unavailable.join(', ')}: these parts are missing. Run the command again.`)];
