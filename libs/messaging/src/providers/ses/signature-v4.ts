import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

interface SignedRequest {
  readonly method: string;
  /** Host and port, as in the header of the request. */
  readonly host: string;
  /** Path of unreserved characters, without a query. */
  readonly path: string;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Headers that prove the account to AWS (Signature Version 4).
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signatureV4(
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { method, host, path, body, region, service, at }: SignedRequest,
): Record<string, string> {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const sent = {
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  // In the order of their names.
  const headers = Object.entries({ host, ...sent });
  const names = headers.map(([name]) => name).join(';');
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = [method, path, '', lines, names, sha256(body)].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(key, toSign).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
