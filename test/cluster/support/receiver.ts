import type { Inbox } from '../../faults/checks/sent-webhooks.ts';
import { chainImage, programPod } from './edge.ts';
import type { Kubectl } from './kubectl.ts';

const PORT = 8080;
const labels = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });
const ports = [{ protocol: 'TCP', port: PORT }];

/** Who may connect in addition to the policies of the product. */
const policy = (name: string, spec: object): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec,
});

/**
 * Starts the pod `receiver`, to which webhooks can be sent from now on: a cluster cannot reach the
 * machine of a test. The service `webhook` is allowed private addresses, as that of a local stack.
 */
export const openReceiver = async (own: Kubectl): Promise<Inbox> => {
  const image = await chainImage(own);
  await own.apply(
    [
      programPod('receiver', { image, file: 'receiver.mjs', port: PORT, env: { PORT: String(PORT) } }),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'receiver' },
        spec: { selector: labels('receiver').matchLabels, ports },
      },
      policy('receiver', {
        podSelector: labels('receiver'),
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: labels('webhook') }], ports }],
      }),
      policy('webhook-to-receiver', {
        podSelector: labels('webhook'),
        policyTypes: ['Egress'],
        egress: [{ to: [{ podSelector: labels('receiver') }], ports }],
      }),
    ],
    '--server-side',
  );
  await own.run(['set', 'env', 'deployment/webhook', 'ALLOW_PRIVATE_TARGETS=true']);
  for (const name of ['receiver', 'webhook']) await own.rollout(`deployment/${name}`);
  return {
    url: `http://receiver:${PORT}`,
    read: async () =>
      (await own.logs('deployment/receiver', '--tail=-1'))
        .trim()
        .split('\n')
        .map((line) => ({ path: line.split(' ')[0]!, id: line.split(' ')[1] ?? '' })),
    stop: async () => {},
  };
};
