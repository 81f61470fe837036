import type { Attributes } from '@opentelemetry/api';
import { envDetector, resourceFromAttributes, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';

/**
 * Starts the whole SDK, which reads the OTEL_* variables. It includes every exporter that they can
 * name, with gRPC and protobuf.
 * @returns a function that flushes and stops it
 */
export const startSdk = (
  about: Attributes,
  { metrics, traces }: { metrics: boolean; traces: boolean },
): (() => Promise<void>) => {
  const sdk = new NodeSDK({
    resource: resourceFromAttributes(about),
    // Without the detectors of the process and the host: they would export command lines, paths and
    // user names.
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    logRecordProcessors: [],
    ...(metrics ? {} : { metricReaders: [] }),
    ...(traces ? {} : { spanProcessors: [] }),
  });
  sdk.start();
  return () => sdk.shutdown();
};
