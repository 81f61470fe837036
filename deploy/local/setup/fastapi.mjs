// Provides FastAPI and PyJWT of the distribution for the tests of a gate before a server in Python.
// Without them those tests are skipped with a message.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { findBinary, unpackedDir } from '../servers/binaries.mjs';
import { canExtract, extractPackages } from './debian-packages.mjs';

/** Where Debian has its packages of Python. All of these are plain Python. */
const FOLDER = path.join(unpackedDir, 'usr/lib/python3/dist-packages');
const PACKAGES = [
  ...['fastapi', 'starlette', 'pydantic', 'anyio', 'sniffio', 'idna', 'typing-extensions'],
  ...['uvicorn', 'click', 'h11', 'asgiref', 'jwt'],
].map((name) => `python3-${name}`);
const TIMEOUT_MS = 180_000;

/** Extracts them from Debian packages for the Python of this machine. Never fails. */
export function ensureFastapi(say) {
  if (existsSync(path.join(FOLDER, 'fastapi')) || !findBinary('python3') || !canExtract()) return;
  try {
    say('extracting FastAPI from the Debian packages');
    extractPackages('python', PACKAGES, TIMEOUT_MS);
  } catch {
    say('FastAPI is not available; the tests of a gate before it are skipped');
  }
}
