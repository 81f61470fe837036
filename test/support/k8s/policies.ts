import { STOPS_WITHIN_SECONDS } from '../../../shared/lib/shutdown.ts';
import { nameOf, podOf, type Rendered } from './render.ts';

/**
 * What no pod of ours may lack, as findings: the restricted profile of Kubernetes and a little
 * more.
 */

type Container = Record<string, never> & {
  name: string;
  image: string;
  securityContext?: Record<string, unknown> & { capabilities?: { drop?: string[]; add?: string[] } };
  resources?: Record<'requests' | 'limits', Record<string, string> | undefined>;
};

const PINNED =
  /@sha256:[0-9a-f]{64}$|:v?\d+\.\d+\.\d+(-[a-z0-9.]+)?$|^postgres:\d+\.\d+$|cloudnative-pg\/postgresql:\d+\.\d+-/;

const containerFindings = ({ image, securityContext = {}, resources }: Container): [string, boolean][] => [
  ['its image is pinned', PINNED.test(image)],
  ['it cannot become more', securityContext.allowPrivilegeEscalation === false],
  ['its root file system is read-only', securityContext.readOnlyRootFilesystem === true],
  [
    'it drops all capabilities',
    securityContext.capabilities?.drop?.includes('ALL') === true && !securityContext.capabilities.add,
  ],
  ['it is not privileged', securityContext.privileged !== true && securityContext.runAsUser !== 0],
  ...(['requests', 'limits'] as const).flatMap((kind) =>
    ['cpu', 'memory'].map((what): [string, boolean] => [
      `${kind} say ${what}`,
      resources?.[kind]?.[what] !== undefined,
    ]),
  ),
];

/** What is wrong with an object; `[]` for one that starts no pod. */
export const podFindings = (object: Rendered): string[] => {
  const template = podOf(object);
  if (template === undefined) return [];
  const { spec } = template;
  const service = object.kind === 'Deployment' && spec.containers[0].image.startsWith('quittance');
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const rules: [string, boolean][] = [
    [
      'it is not run by root',
      spec.securityContext?.runAsNonRoot === true && spec.securityContext.runAsUser > 0,
    ],
    ['system calls are filtered', spec.securityContext?.seccompProfile?.type === 'RuntimeDefault'],
    ['it has no token', spec.automountServiceAccountToken === false],
    ['it is not told of services by variables', spec.enableServiceLinks === false],
    ['it shares nothing with its node', !spec.hostNetwork && !spec.hostPID && !spec.hostIPC],
    [
      'it mounts no folder of its node',
      (spec.volumes ?? []).every((volume: Record<string, unknown>) => volume.hostPath === undefined),
    ],
    [
      'labels and selector agree',
      object.kind === 'Job' || agree(object.spec.selector.matchLabels, template.metadata.labels),
    ],
    ...(service
      ? ([
          ['its ServiceAccount is its own', spec.serviceAccountName === object.metadata.name],
          [
            'it has time to stop',
            grace > STOPS_WITHIN_SECONDS + spec.containers[0].lifecycle.preStop.sleep.seconds,
          ],
          ['it is spread', spec.topologySpreadConstraints.length === 2],
          [
            'startup and liveness ask the event loop',
            ['startupProbe', 'livenessProbe'].every(
              (probe) => spec.containers[0][probe].httpGet.path === '/v1/health',
            ),
          ],
          [
            'readiness asks what it depends on',
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
