/**
 * The resources of the controller NACK. No package has their types. The fields are those of its
 * custom resource definitions (nats-io/nack, deploy/crds.yml, jetstream.nats.io/v1beta2) that k8s/
 * uses.
 */
type Meta = {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};
type Resource<Kind extends string, Spec> = {
  apiVersion: 'jetstream.nats.io/v1beta2';
  kind: Kind;
  metadata: Meta;
  spec: Spec;
};

export type IStream = Resource<
  'Stream',
  {
    name: string;
    subjects: string[];
    retention: 'limits' | 'interest' | 'workqueue';
    storage: 'file' | 'memory';
    discard: 'old' | 'new';
    maxMsgs?: number;
    maxAge?: string;
    maxBytes: number;
    duplicateWindow: string;
    replicas: number;
    preventDelete?: boolean;
  }
>;
export type IConsumer = Resource<
  'Consumer',
  {
    streamName: string;
    durableName: string;
    filterSubject: string;
    deliverPolicy: 'all' | 'last' | 'new';
    ackPolicy: 'none' | 'all' | 'explicit';
    ackWait: string;
    maxDeliver: number;
    maxAckPending: number;
  }
>;
