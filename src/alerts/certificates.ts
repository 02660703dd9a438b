import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Environment } from '../config/environment.js';

/** Milliseconds for the handshake. */
const TIMEOUT = 5_000;

export interface CertificateEnd {
  /** The variable whose certificate it is. */
  readonly name: 'SMPP_TLS_CERT' | 'PUBLIC_URL';
  /** Last time at which it is valid; `undefined`: not known. */
  readonly until: Date | undefined;
}

type Settings = Pick<Environment, 'SMPP_TLS_CERT' | 'PUBLIC_URL'>;

/** The certificates that this process knows: of its SMPP server, and of the public address of the gateway. */
export async function certificateEnds({
  SMPP_TLS_CERT: file,
  PUBLIC_URL: url,
}: Settings): Promise<CertificateEnd[]> {
  const ends: CertificateEnd[] = [];
  if (file !== undefined) ends.push({ name: 'SMPP_TLS_CERT', until: await endOfFile(file) });
  if (url.startsWith('https:'))
    ends.push({ name: 'PUBLIC_URL', until: await endOfServer(new URL(url)) });
  return ends;
}

async function endOfFile(path: string): Promise<Date | undefined> {
  try {
    return timeOf(new X509Certificate(await readFile(path)).validTo);
  } catch {
    return undefined;
  }
}

/** Only the time is read: a certificate that clients refuse for another reason has an end, too. */
function endOfServer({ hostname, port }: URL): Promise<Date | undefined> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
      timeout: TIMEOUT,
    });
    const end = (until?: Date): void => {
      socket.destroy();
      resolve(until);
    };
    socket.once('secureConnect', () => end(timeOf(socket.getPeerCertificate().valid_to)));
    socket.once('timeout', () => end());
    socket.once('error', () => end());
  });
}

function timeOf(written: string | undefined): Date | undefined {
  const time = new Date(written ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time;
}
