import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const run = promisify(execFile);
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

const CA_CONFIG = `[ca]
default_ca = own
[own]
new_certs_dir = .
database = index.txt
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
`;

/** A certificate authority, and its certificates for names: valid ones, and one that has expired. */
export async function certificates(
  wanted: Readonly<Record<string, { readonly name: string; readonly isExpired?: boolean }>>,
): Promise<{ readonly ca: string; readonly of: Readonly<Record<string, Certificate>> }> {
  const cwd = await mkdtemp(join(tmpdir(), 'dundun-ca-'));
  const openssl = (...args: string[]) => run('openssl', args, { cwd });
  const read = (file: string) => readFile(join(cwd, file), 'utf8');
  try {
    await writeFile(join(cwd, 'ca.cnf'), CA_CONFIG);
    await writeFile(join(cwd, 'index.txt'), '');
    await openssl(
      'req',
      '-x509',
      ...EC,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-subj',
      '/CN=Test CA',
      '-days',
      '2',
    );
    const of: Record<string, Certificate> = {};
    for (const [id, { name, isExpired }] of Object.entries(wanted)) {
      const kind = /^[\d.]+$/.test(name) ? 'IP' : 'DNS';
      await openssl(
        'req',
        ...EC,
        '-keyout',
        `${id}.key`,
        '-out',
        `${id}.csr`,
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=${kind}:${name}`,
      );
      const dates = isExpired
        ? ['-startdate', '200101000000Z', '-enddate', '200102000000Z']
        : ['-days', '2'];
      await openssl(
        'ca',
        '-batch',
        '-notext',
        '-config',
        'ca.cnf',
        '-cert',
        'ca.pem',
        '-keyfile',
        'ca.key',
        '-in',
        `${id}.csr`,
        '-out',
        `${id}.pem`,
        ...dates,
      );
      of[id] = { key: await read(`${id}.key`), cert: await read(`${id}.pem`) };
    }
    return { ca: await read('ca.pem'), of };
  } finally {
    await rm(cwd, { recursive: true });
  }
}
