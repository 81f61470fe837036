// Builds the documentation into docs/site/dist, or into the folder that it is given, which the
// gateway serves: `node docs/site/build.ts`. Set-up runs it when the sources have changed, the
// Dockerfile in a separate stage (docs/design/choices.md).
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import starlight from '@astrojs/starlight';
import { build } from 'astro';
import { LOCAL_API } from '../../shared/lib/local-api.ts';
import { finish } from './finish.ts';
import type { Page } from './page.ts';
import { allPages, root, sidebar } from './pages.ts';

const site = import.meta.dirname;
const dist = path.resolve(process.argv[2] ?? path.join(site, 'dist'));
// Astro's project is a copy with the pages in it, so that the sources stay as they are.
const stage = path.join(root, `.local/docs-site-${process.pid}`);
process.env.ASTRO_TELEMETRY_DISABLED = '1';

const { repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  repository?: { url: string };
};

/** A page with what Starlight reads in front of it. */
const withFrontMatter = ({ path: at, title, description, markdown, source, depth }: Page): string => {
  const isHome = at === '';
  const data = {
    title,
    description,
    slug: isHome ? 'index' : at,
    editUrl: repository && source ? `${repository.url}/edit/main/${source}` : false,
    tableOfContents: isHome ? false : { minHeadingLevel: 2, maxHeadingLevel: depth ?? 3 },
    ...(isHome ? { prev: false, next: false } : {}),
    source: source ?? null,
  };
  // JSON is YAML.
  return `---\n${JSON.stringify(data)}\n---\n\n${markdown}\n`;
};

/** What a browser gets for an unknown address. It is no page of the navigation. */
const NOT_FOUND: Page = {
  path: '404',
  title: 'Page not found',
  description: 'There is no page at this address.',
  markdown:
    'There is no page at this address. Search above, or begin at the [start page](/), the [guides](/docs/guides) or the [API reference](/docs).',
};

const write = (pages: readonly Page[]): void => {
  cpSync(path.join(site, 'src'), path.join(stage, 'src'), { recursive: true });
  mkdirSync(path.join(stage, 'public/docs'), { recursive: true });
  cpSync(path.join(root, 'console/src/icon.svg'), path.join(stage, 'public/favicon.svg'));
  // The typeface of the console: one file of a package, which both name.
  cpSync(path.join(root, 'console/src/ui/fonts.css'), path.join(stage, 'src/fonts.css'));
  cpSync(path.join(root, 'docs/guides/concepts.svg'), path.join(stage, 'public/docs/concepts.svg'));
  // Astro bundles the packages that are named here, because they import modules of Vite.
  const dependencies = { '@astrojs/starlight': '*', astro: '*' };
  writeFileSync(path.join(stage, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  for (const page of [...pages, NOT_FOUND]) {
    const file = path.join(stage, 'src/content/docs', `${page.path === '' ? 'index' : page.path}.md`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, withFrontMatter(page));
  }
};

const component = (name: string): string => `./src/components/${name}.astro`;

const buildWithStarlight = (pages: readonly Page[]): Promise<void> =>
  build({
    root: stage,
    configFile: false,
    logLevel: 'error',
    site: LOCAL_API,
    trailingSlash: 'never',
    outDir: dist,
    build: { assets: 'docs/assets', inlineStylesheets: 'never' },
    // As data: URLs or inline they would need permission as scripts and styles.
    vite: { build: { assetsInlineLimit: 0 } },
    devToolbar: { enabled: false },
    integrations: [
      starlight({
        title: 'Quittance',
        logo: { src: './public/favicon.svg', alt: '' },
        favicon: '/favicon.svg',
        customCss: ['./src/fonts.css', './src/styles.css'],
        // Its search is WebAssembly and writes markup. Ours needs no permission.
        pagefind: false,
        components: {
          Search: component('Search'),
          SocialIcons: component('TopLinks'),
          PageTitle: component('PageTitle'),
          EditLink: component('EditLink'),
        },
        expressiveCode: {
          themes: ['github-dark-default', 'github-light-default'],
          defaultProps: { frame: 'none' },
          styleOverrides: { borderRadius: '0.5rem', codeFontSize: '0.8125rem' },
        },
        sidebar: sidebar(pages),
      }),
    ],
  });

const pages = allPages();
try {
  write(pages);
  await buildWithStarlight(pages);
  await finish(dist, pages);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
