// `npm run ops -- pin-images`: writes the digest of every image of others behind its tag, for a
// release.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flag, readCommandLine, text } from '../deploy/local/processes/command-line.ts';

const FILES = [
  '{deploy,gate}/Dockerfile',
  'examples/gate/compose.yaml',
  'deploy/compose.yaml',
  'k8s/**/*.yaml',
];
const IMAGE = /^(\s*(?:- )?image(?:Name)?: |ARG NODE=)(\S+)$/gm;
/** Built from this tree. The release component names their digest (docs/kubernetes.md). */
const OWN = /^quittance(-sandbox|-gate)?(:|$)/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const INDEX_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const isUnpinned = (image: string): boolean => !OWN.test(image) && !image.includes('@');

/** Where a manifest is, by the rules of Docker: a first part without a dot is no host. */
const manifestUrl = (image: string): URL => {
  const [name = '', tag = 'latest'] = image.split(/:(?=[^:/]*$)/);
  const parts = name.split('/');
  const [first = ''] = parts;
  if (!/[.:]|^localhost$/.test(first)) {
    const repository = parts.length === 1 ? `library/${name}` : name;
    return new URL(`https://registry-1.docker.io/v2/${repository}/manifests/${tag}`);
  }
  const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(first) ? 'http' : 'https';
  return new URL(`${scheme}://${first}/v2/${parts.slice(1).join('/')}/manifests/${tag}`);
};

/** The token that a registry wants also of anonymous readers. */
const tokenFor = async (challenge: string): Promise<string> => {
  const fields = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const { realm = '', service = '', scope = '' } = fields as Record<string, string>;
  const answer = await fetch(`${realm}?${new URLSearchParams({ service, scope })}`);
  if (!answer.ok) throw new Error(`${realm} answered ${answer.status}`);
  const { token, access_token } = (await answer.json()) as { token?: string; access_token?: string };
  return token ?? access_token ?? '';
};

/** The digest that a tag has now. @throws if the registry does not answer with one */
const digestOf = async (image: string): Promise<string> => {
  const url = manifestUrl(image);
  const ask = (headers: Record<string, string>) =>
    fetch(url, { method: 'HEAD', headers: { accept: INDEX_TYPES, ...headers } });
  let answer = await ask({});
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 401 && challenge !== null)
    answer = await ask({ authorization: `Bearer ${await tokenFor(challenge)}` });
  const digest = answer.headers.get('docker-content-digest') ?? '';
  if (!answer.ok || !DIGEST.test(digest))
    throw new Error(`${url.host} answered ${answer.status} without a digest`);
  return digest;
};

const main = async (): Promise<number> => {
  const { values } = readCommandLine({
    typed: 'npm run ops -- pin-images',
    about: "Asks the registry of each image of others for its digest, and writes it behind the image's tag.",
    options: {
      check: flag('lists the images without a digest, without a call; ends with 1 if there are some'),
      root: text('FOLDER', 'another tree than this one', path.resolve(import.meta.dirname, '..')),
    },
  });
  const texts = new Map(
    FILES.flatMap((pattern) => globSync(pattern, { cwd: values.root })).map((name) => {
      const file = path.join(values.root, name);
      return [file, readFileSync(file, 'utf8')];
    }),
  );
  const found = [...texts.values()].flatMap((text) => [...text.matchAll(IMAGE)].map(([, , image]) => image!));
  const unpinned = [...new Set(found.filter(isUnpinned))].sort();
  if (values.check) {
    for (const image of unpinned) console.log(`${image} has no digest`);
    return unpinned.length === 0 ? 0 : 1;
  }
  const digests = new Map<string, string>();
  for (const image of unpinned) {
    try {
      digests.set(image, await digestOf(image));
    } catch (error) {
      console.error(`nothing was written: the digest of ${image} is unknown (${(error as Error).message})`);
      return 1;
    }
  }
  for (const [file, text] of texts) {
    const pinned = text.replaceAll(IMAGE, (line, before: string, image: string) =>
      digests.has(image) ? `${before}${image}@${digests.get(image)}` : line,
    );
    if (pinned !== text) writeFileSync(file, pinned);
  }
  for (const [image, digest] of digests) console.log(`${image}@${digest}`);
  return 0;
};

process.exitCode = await main();
