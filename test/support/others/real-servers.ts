import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { findBinary, unpackedDir } from '../../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { type GateUpstream, newFolder, PYTHON_PACKAGES, startProgram } from './gate-upstreams.ts';

/**
 * One shop on many servers. Each serves the same pages by its own rules of paths, methods and
 * bodies, and none knows of payments. A request whose query has `slow` takes longer, where the
 * server can run code.
 */

/** `*` stands for all that follows. A server of files has `big` there. */
const PAGES: Readonly<Record<string, string>> = {
  '/report': 'PRODUCT report',
  '/v1/report': 'PRODUCT dear',
  '/v1/other': 'PRODUCT other',
  '/files/*': 'PRODUCT file',
  '/models/*': 'PRODUCT model',
  '/items/1': 'PRODUCT item',
  '/free/0': 'free 0',
  '/free/1': 'free 1',
  '/free/2': 'free 2',
  '/free/3': 'free 3',
};
/** What nobody may get through the gate: the page of another host of the same server. */
const HIDDEN_HOST = 'admin.internal';
const HIDDEN_PAGE = 'PRODUCT hidden';
const SLOW_MS = 150;

const PROGRAMS = path.resolve(import.meta.dirname, '../../interop/servers');
const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const LIBRARIES = path.join(unpackedDir, 'usr/lib', multiarch);
const ports = createPortPicker();

const listening = async (serve: RequestListener): Promise<GateUpstream> => {
  const server = createServer(serve).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const pause = (url: string): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, url.includes('slow') ? SLOW_MS : 0));

const startExpress = (): Promise<GateUpstream> => {
  const app = express();
  for (const [at, text] of Object.entries(PAGES))
    app.all(at.replace('*', '{*rest}'), async (request, response) => {
      await pause(request.url);
      response.send(text);
    });
  return listening(app);
};

const startHono = (): Promise<GateUpstream> => {
  const app = new Hono();
  for (const [at, text] of Object.entries(PAGES))
    app.all(at, async (context) => {
      await pause(context.req.url);
      return context.text(text);
    });
  return listening(getRequestListener(app.fetch));
};

/** With all that Fastify can take for the same path. */
const startFastify = async (): Promise<GateUpstream> => {
  const app = fastify({
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false },
  });
  for (const [url, text] of Object.entries(PAGES))
    app.all(url, async (request) => {
      await pause(request.url);
      return text;
    });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, stop: () => app.close() };
};

const startPython = async (args: (port: number) => string[]): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const env = {
    PAGES: JSON.stringify(PAGES),
    PYTHONPATH: [PROGRAMS, PYTHON_PACKAGES].join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: 'yes',
  };
  return startProgram(findBinary('python3')!, args(port), { port, folder, env });
};

const phpBinary = () => findBinary('php') ?? findBinary('php8.2');
const PHP_ENV = { PAGES: JSON.stringify(PAGES), LD_LIBRARY_PATH: LIBRARIES };

const startPhp = async (): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const args = ['-n', '-S', `127.0.0.1:${port}`, '-t', folder, path.join(PROGRAMS, 'index.php')];
  return startProgram(phpBinary()!, args, { port, folder, env: PHP_ENV });
};

/** The pages as files. */
const writePages = (folder: string): string => {
  const root = path.join(folder, 'pages');
  for (const [at, text] of Object.entries(PAGES)) {
    const file = path.join(root, at.replace('*', 'big'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return root;
};

const startNginx = async (site: string, folder = newFolder()): Promise<GateUpstream> => {
  const port = await ports.any();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const hidden = `server { listen 127.0.0.1:${port}; server_name ${HIDDEN_HOST}; return 200 '${HIDDEN_PAGE}'; }`;
  const shop = `server { listen 127.0.0.1:${port} default_server; root ${writePages(folder)}; ${site} }`;
  const configuration = path.join(folder, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; user root; worker_processes 1; pid ${folder}/pid; events {}\nhttp { access_log off; ${temporary.join(' ')}\n${hidden}\n${shop} }\n`,
  );
  const args = ['-p', folder, '-e', 'stderr', '-c', configuration];
  const env = { LD_LIBRARY_PATH: LIBRARIES };
  return startProgram(findBinary('nginx')!, args, { port, folder, env });
};

/** Whether a port that does not speak HTTP takes connections. */
const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });

/** Files, and two locations that answer any method. */
const LOCATIONS = ['/report', '/v1/report']
  .map((at) => `location = ${at} { return 200 '${PAGES[at]}'; }`)
  .join(' ');

/** nginx before PHP. The script gets the path as nginx reads it. */
const startFpm = async (): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const pool = `[www]\nlisten = 127.0.0.1:${port}\npm = static\npm.max_children = 2\nclear_env = no\nuser = ${process.getuid?.() === 0 ? 'root' : ''}\n`;
  const file = path.join(folder, 'fpm.conf');
  writeFileSync(file, `[global]\nerror_log = ${folder}/log\ndaemonize = no\n${pool}`);
  const fpm = await startProgram(findBinary('php-fpm8.2')!, ['-n', '-F', '-R', '-y', file], {
    ...{ port, folder, env: PHP_ENV },
    answers: accepts,
  });
  const given = {
    SCRIPT_FILENAME: path.join(PROGRAMS, 'index.php'),
    REQUEST_URI: '$uri',
    QUERY_STRING: '$query_string',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
  };
  const lines = Object.entries(given).map(([name, value]) => `fastcgi_param ${name} ${value};`);
  const nginx = await startNginx(`location / { fastcgi_pass 127.0.0.1:${port}; ${lines.join(' ')} }`);
  return {
    port: nginx.port,
    stop: async () => {
      await nginx.stop();
      await fpm.stop();
    },
  };
};

const modulesFolder = () =>
  [path.join(unpackedDir, 'usr/lib/apache2/modules'), '/usr/lib/apache2/modules'].find((folder) =>
    existsSync(folder),
  );

const startApache = async (): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const root = writePages(folder);
  mkdirSync(path.join(folder, 'hidden'));
  writeFileSync(path.join(folder, 'hidden/index.html'), HIDDEN_PAGE);
  const modules = ['mpm_event', 'authz_core', 'dir', 'mime'];
  const host = (name: string, documents: string) =>
    `<VirtualHost *:${port}>\nServerName ${name}\nAllowEncodedSlashes On\nDocumentRoot ${documents}\n</VirtualHost>`;
  const lines = [
    `ServerRoot ${folder}`,
    `PidFile ${folder}/pid`,
    `Mutex file:${folder}`,
    `ErrorLog ${folder}/log`,
    `Listen 127.0.0.1:${port}`,
    ...modules.map((name) => `LoadModule ${name}_module ${modulesFolder()}/mod_${name}.so`),
    `TypesConfig ${folder}/types`,
    'DirectoryIndex index.html',
    host('localhost', root),
    host(HIDDEN_HOST, path.join(folder, 'hidden')),
  ];
  writeFileSync(path.join(folder, 'types'), '');
  writeFileSync(path.join(folder, 'apache.conf'), `${lines.join('\n')}\n`);
  const args = ['-X', '-f', path.join(folder, 'apache.conf')];
  const env = { LD_LIBRARY_PATH: LIBRARIES };
  return startProgram(findBinary('apache2')!, args, { port, folder, env });
};

const startCaddy = async (): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const responses = ['/report', '/v1/report'].map((at) => `handle ${at} {\nrespond "${PAGES[at]}"\n}`);
  const options = '{\nadmin off\nauto_https off\nservers {\nprotocols h1 h2 h2c\n}\n}';
  const shop = `http://:${port} {\n${responses.join('\n')}\nhandle {\nroot * ${writePages(folder)}\nfile_server\n}\n}`;
  const hidden = `http://${HIDDEN_HOST}:${port} {\nrespond "${HIDDEN_PAGE}"\n}`;
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(file, `${options}\n${shop}\n${hidden}\n`);
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  return startProgram(findBinary('caddy')!, args, { port, folder, env: { HOME: folder } });
};

const JAR_FOLDERS = ['/usr/share/java', path.join(unpackedDir, 'usr/share/java')];
const findJar = (name: string): string | undefined =>
  JAR_FOLDERS.map((folder) => path.join(folder, `${name}.jar`)).find((file) => existsSync(file));

const jvm = `java-17-openjdk-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
const java = (): string | undefined =>
  findBinary('java') ??
  [path.join(unpackedDir, 'usr/lib/jvm', jvm, 'bin/java')].find((file) => existsSync(file));

const TOMCAT = ['catalina', 'coyote', 'util', 'util-scan', 'juli', 'jni', 'servlet-api']
  .concat(['annotations-api', 'api', 'jaspic-api', 'el-api'])
  .map((name) => `tomcat10-${name}`);
const JETTY = ['server', 'servlet', 'security', 'http', 'io', 'util', 'util-ajax']
  .concat(['http2-server', 'http2-common', 'http2-hpack'])
  .map((name) => `jetty9-${name}`)
  .concat('servlet-api');
const hasJars = (names: readonly string[]): boolean =>
  java() !== undefined && ['ecj', ...names].every((name) => findJar(name) !== undefined);

const startServlets = async (program: string, jars: readonly string[]): Promise<GateUpstream> => {
  const [folder, port] = [newFolder(), await ports.any()];
  const used = jars.map((name) => findJar(name)!);
  const source = path.join(PROGRAMS, `${program}.java`);
  const compile = ['-cp', findJar('ecj')!, 'org.eclipse.jdt.internal.compiler.batch.Main', '-11', '-nowarn'];
  execFileSync(java()!, [...compile, '-cp', used.join(':'), '-d', folder, source], { stdio: 'pipe' });
  const pages = Object.entries(PAGES).map((page) => page.join('='));
  const quick = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m'];
  const args = [...quick, '-cp', [folder, ...used].join(':'), program, String(port), folder, ...pages];
  return startProgram(java()!, args, { port, folder, env: {} });
};

const hasPython = (name: string): boolean =>
  findBinary('python3') !== undefined && existsSync(path.join(PYTHON_PACKAGES, name));

type RealServer = { isThere: boolean; start: () => Promise<GateUpstream> };

const ALL: Readonly<Record<string, RealServer>> = {
  Express: { isThere: true, start: startExpress },
  Hono: { isThere: true, start: startHono },
  Fastify: { isThere: true, start: startFastify },
  'FastAPI, uvicorn': {
    isThere: hasPython('fastapi'),
    start: () =>
      startPython((port) => ['-m', 'uvicorn', 'shop_asgi:app', '--port', String(port), '--no-access-log']),
  },
  'FastAPI, Hypercorn': {
    isThere: hasPython('hypercorn'),
    start: () => startPython((port) => ['-m', 'hypercorn', '-b', `127.0.0.1:${port}`, 'shop_asgi:app']),
  },
  gunicorn: {
    isThere: hasPython('gunicorn'),
    start: () =>
      startPython((port) => ['-m', 'gunicorn', '-b', `127.0.0.1:${port}`, '--threads', '4', 'shop_wsgi:app']),
  },
  'http.server': {
    isThere: findBinary('python3') !== undefined,
    start: () => startPython((port) => [path.join(PROGRAMS, 'shop_plain.py'), String(port)]),
  },
  PHP: { isThere: phpBinary() !== undefined, start: startPhp },
  'PHP, nginx': {
    isThere: findBinary('php-fpm8.2') !== undefined && findBinary('nginx') !== undefined,
    start: startFpm,
  },
  nginx: { isThere: findBinary('nginx') !== undefined, start: () => startNginx(LOCATIONS) },
  'nginx, unmerged': {
    isThere: findBinary('nginx') !== undefined,
    start: () => startNginx(`merge_slashes off; ${LOCATIONS}`),
  },
  Apache: {
    isThere: findBinary('apache2') !== undefined && modulesFolder() !== undefined,
    start: startApache,
  },
  Caddy: { isThere: findBinary('caddy') !== undefined, start: startCaddy },
  Tomcat: { isThere: hasJars(TOMCAT), start: () => startServlets('TomcatShop', TOMCAT) },
  Jetty: { isThere: hasJars(JETTY), start: () => startServlets('JettyShop', JETTY) },
};

/** Those that are on this machine (deploy/local/setup/upstreams.mjs, proxies.mjs, fastapi.mjs). */
export const realServers = Object.keys(ALL).filter((name) => ALL[name]!.isThere);
export const startRealServer = (name: string): Promise<GateUpstream> => ALL[name]!.start();
const missing = Object.keys(ALL).filter((name) => !ALL[name]!.isThere);
if (missing.length > 0) console.warn(`no gate is tested before ${missing.join(', ')}: not on this machine`);
