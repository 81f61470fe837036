import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { selfSigned } from './receiver.ts';

/** A certificate of `localhost` in files. It is its own authority. */
type CertificateFiles = { cert: string; key: string; certFile: string; keyFile: string };

/** A folder with the certificate of a server, and one that another authority has signed. */
export const certificateFiles = async (): Promise<{
  folder: string;
  own: CertificateFiles;
  other: CertificateFiles;
  remove: () => void;
}> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-tls-'));
  const write = async (name: string): Promise<CertificateFiles> => {
    const pair = await selfSigned('localhost');
    const [certFile, keyFile] = ['crt', 'key'].map((end) => path.join(folder, `${name}.${end}`)) as [
      string,
      string,
    ];
    writeFileSync(certFile, pair.cert);
    writeFileSync(keyFile, pair.key, { mode: 0o600 });
    return { ...pair, certFile, keyFile };
  };
  return {
    folder,
    own: await write('own'),
    other: await write('other'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
