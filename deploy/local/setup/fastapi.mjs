// Provides FastAPI, PyJWT and Flask of the distribution for the tests of a gate before a server in
// Python, and of the guide for Python. Without them those tests are skipped with a message.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';
import { canExtract, extractPackages } from './debian-packages.mjs';

/** Where Debian has its packages of Python. All of these are plain Python. */
const FOLDER = path.join(unpackedDir, 'usr/lib/python3/dist-packages');
const GROUPS = [
  {
    name: 'FastAPI',
    module: 'fastapi',
    packages: [
      ...['fastapi', 'starlette', 'pydantic', 'anyio', 'sniffio', 'idna', 'typing-extensions'],
      ...['uvicorn', 'click', 'h11', 'asgiref', 'jwt'],
    ],
  },
  { name: 'Flask', module: 'flask', packages: ['flask', 'werkzeug', 'jinja2', 'markupsafe', 'itsdangerous'] },
];
const TIMEOUT_MS = 180_000;

/** Extracts them from Debian packages for the Python of this machine. Never fails. */
export function ensureFastapi(say) {
  if (!findBinary('python3') || !canExtract()) return;
  for (const { name, module, packages } of GROUPS) {
    if (existsSync(path.join(FOLDER, module))) continue;
    try {
      say(`extracting ${name} from the Debian packages`);
      const debian = packages.map((each) => `python3-${each}`);
      extractPackages('python', debian, TIMEOUT_MS);
    } catch {
      say(`${name} is not available; the tests with it are skipped`);
    }
  }
}
