import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from '../../shared/lib/telemetry/version.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The packages that are published, which have the version of package.json. */
const PACKAGES = ['sdk', 'cli', 'mcp', 'gate'].map((name) => `${name}/package.json`);
/** Files that name an image or a package file of this version, or are images that say it. */
const NAMING = [
  'README.md',
  'console/src/selling/gate/forms.ts',
  'deploy/Dockerfile',
  'docs/guides/any-api.md',
  'docs/guides/quickstart-vendor.md',
  'docs/kubernetes.md',
  'docs/signing-keys.md',
  'examples/README.md',
  'examples/gate/compose.yaml',
  'examples/gate/kubernetes/gate.yaml',
  'gate/Dockerfile',
  'gate/README.md',
  'k8s/components/release/kustomization.yaml',
  'test/cluster/main.ts',
];

const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?`;
/** `quittance:1.0.0`, `quittance-gate:1.0.0`, `quittance-sdk-1.0.0.tgz`, a label and a tag. */
const NAMED = new RegExp(
  String.raw`(quittance(?:-[a-z]+)?:|quittance-[a-z]+-|newTag: |image\.version=")${NUMBER}(?![\w.]*@)`,
  'g',
);

const IN_PACKAGE = new RegExp(`^(  "version": ")${NUMBER}`, 'm');

/** The files that state the version, by their path. */
export const statedVersions = ({ version } = build): Record<string, string> =>
  Object.fromEntries(
    [...PACKAGES, ...NAMING].map((file) => [
      file,
      readFileSync(path.join(root, file), 'utf8').replace(
        PACKAGES.includes(file) ? IN_PACKAGE : NAMED,
        `$1${version}`,
      ),
    ]),
  );
