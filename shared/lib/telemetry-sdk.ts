import type { Attributes } from '@opentelemetry/api';
import { envDetector, resourceFromAttributes, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';

/**
 * The whole SDK, which reads OTEL_* by itself. It brings every exporter that those may name, with
 * gRPC and protobuf.
 * @returns what flushes and ends it
 */
export const startSdk = (
  about: Attributes,
  { metrics, traces }: { metrics: boolean; traces: boolean },
): (() => Promise<void>) => {
  const sdk = new NodeSDK({
    resource: resourceFromAttributes(about),
    // Not the process's and the host's: they tell command lines, paths and user names.
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    logRecordProcessors: [],
    ...(metrics ? {} : { metricReaders: [] }),
    ...(traces ? {} : { spanProcessors: [] }),
  });
  sdk.start();
  return () => sdk.shutdown();
};
