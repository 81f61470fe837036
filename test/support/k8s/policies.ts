import { programNames } from '../../../deploy/local/stack/programs.ts';
import { STOPS_WITHIN_SECONDS } from '../../../shared/lib/shutdown.ts';
import { isProduct, nameOf, podOf, type Rendered } from './render.ts';

/**
 * The rules for every pod, as findings: the restricted profile of Kubernetes and some additions.
 */

const services: readonly string[] = programNames;

type Container = Record<string, never> & {
  name: string;
  image: string;
  securityContext?: Record<string, unknown> & { capabilities?: { drop?: string[]; add?: string[] } };
  resources?: Record<'requests' | 'limits', Record<string, string> | undefined>;
};

/** The sandbox is built where it is used and is in no registry. */
const PINNED =
  /@sha256:[0-9a-f]{64}$|:v?\d+\.\d+\.\d+(-[a-z0-9.]+)?$|^postgres:\d+\.\d+$|^quittance-sandbox:local$|cloudnative-pg\/postgresql:\d+\.\d+-/;

const containerFindings = ({ image, securityContext = {}, resources }: Container): [string, boolean][] => [
  ['its image is pinned', PINNED.test(image)],
  ['it cannot gain privileges', securityContext.allowPrivilegeEscalation === false],
  ['its root file system is read-only', securityContext.readOnlyRootFilesystem === true],
  [
    'it drops all capabilities',
    securityContext.capabilities?.drop?.includes('ALL') === true && !securityContext.capabilities.add,
  ],
  ['it is not privileged', securityContext.privileged !== true && securityContext.runAsUser !== 0],
  ...(['requests', 'limits'] as const).flatMap((kind) =>
    ['cpu', 'memory'].map((what): [string, boolean] => [
      `it sets ${what} in its ${kind}`,
      resources?.[kind]?.[what] !== undefined,
    ]),
  ),
];

/** The findings about an object; `[]` for one that starts no pod. */
export const podFindings = (object: Rendered): string[] => {
  const template = podOf(object);
  if (template === undefined) return [];
  const { spec } = template;
  const isService = services.includes(object.metadata.name) && isProduct(spec.containers[0].image);
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const rules: [string, boolean][] = [
    [
      'it does not run as root',
      spec.securityContext?.runAsNonRoot === true && spec.securityContext.runAsUser > 0,
    ],
    ['system calls are filtered', spec.securityContext?.seccompProfile?.type === 'RuntimeDefault'],
    ['it has no API token', spec.automountServiceAccountToken === false],
    ['it gets no service addresses in variables', spec.enableServiceLinks === false],
    ['it shares no namespace with its node', !spec.hostNetwork && !spec.hostPID && !spec.hostIPC],
    [
      'it mounts no folder of its node',
      (spec.volumes ?? []).every((volume: Record<string, unknown>) => volume.hostPath === undefined),
    ],
    [
      'labels and selector agree',
      ['Job', 'CronJob'].includes(object.kind) ||
        agree(object.spec.selector.matchLabels, template.metadata.labels),
    ],
    ...(isService
      ? ([
          ['it has its own ServiceAccount', spec.serviceAccountName === object.metadata.name],
          [
            'it has time to stop',
            grace > STOPS_WITHIN_SECONDS + spec.containers[0].lifecycle.preStop.sleep.seconds,
          ],
          ['it is spread over nodes and zones', spec.topologySpreadConstraints.length === 2],
          [
            'startup and liveness probes test the event loop',
            ['startupProbe', 'livenessProbe'].every(
              (probe) => spec.containers[0][probe].httpGet.path === '/v1/health',
            ),
          ],
          [
            'its successor does not wait long for a process that hangs',
            spec.containers[0].livenessProbe.terminationGracePeriodSeconds <
              spec.containers[0].lifecycle.preStop.sleep.seconds + STOPS_WITHIN_SECONDS,
          ],
          [
            'the readiness probe tests its dependencies',
            spec.containers[0].readinessProbe.httpGet.path === '/v1/health/ready',
          ],
        ] as [string, boolean][])
      : []),
    ...[...spec.containers, ...(spec.initContainers ?? [])].flatMap((container: Container) =>
      containerFindings(container).map(([rule, kept]): [string, boolean] => [
        `${container.name}: ${rule}`,
        kept,
      ]),
    ),
  ];
  return rules.filter(([, kept]) => !kept).map(([rule]) => `${nameOf(object)}: ${rule}`);
};

const agree = (wanted: Record<string, string>, given: Record<string, string>): boolean =>
  Object.entries(wanted).every(([label, value]) => given[label] === value);
