import { createHash, createHmac } from 'node:crypto';
import { PausedFailure } from '../../message/errors.js';
import { untilAborted } from '../../message/time-limit.js';
import { group, type OptionReader, optional, textLike } from '../../ports/option-schema.js';
import type { ProviderRequest } from './http-provider.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** Asked before each request, such as a credential provider of AWS's SDK. */
export type AwsCredentialSource = () => AwsCredentials | Promise<AwsCredentials>;

const readKeys = group({
  accessKeyId: textLike(/^\w{16,128}$/, 'the id of an access key: 16 to 128 letters and digits'),
  secretAccessKey: textLike(
    /^[\x21-\x7e]{16,}$/,
    'the secret of the access key: at least 16 characters, without white space',
  ),
  sessionToken: optional(textLike(/^[\x21-\x7e]+$/, 'a session token, without white space')),
});

/** Keys, or a function that gives those of the moment. */
export const awsCredentials: OptionReader<
  () => Promise<AwsCredentials>,
  AwsCredentials | AwsCredentialSource
> = (option, value) => {
  if (typeof value === 'function')
    return async () => {
      // Those of the SDK have more fields.
      const { accessKeyId, secretAccessKey, sessionToken } = await (value as AwsCredentialSource)();
      return readKeys(option, { accessKeyId, secretAccessKey, sessionToken });
    };
  const keys = readKeys(option, value);
  return () => Promise.resolve(keys);
};

export const awsRegion = textLike(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'a region such as eu-west-1');

interface AwsSettings {
  readonly credentials: () => Promise<AwsCredentials>;
  readonly region: string;
  readonly baseUrl: string;
}

/** Errors of every service of AWS that say that the keys are wrong, with and without `Exception`. */
export const AWS_UNAUTHORIZED = [
  'ExpiredTokenException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'NotAuthorized',
  'OptInRequired',
  'RequestExpired',
  'UnrecognizedClientException',
] as const;

/** Errors of every service of AWS that do not say that nothing was accepted. */
export const AWS_UNCERTAIN = [
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
] as const;

/** The headers that prove the account in a request with a text, or none. @throws PausedFailure where there are no credentials */
export async function awsCredential(
  { credentials, region, baseUrl }: AwsSettings,
  { method = 'POST', path, headers = {}, body = '' }: ProviderRequest,
  { signal, ...scope }: Omit<AwsScope, 'region'> & { readonly signal: AbortSignal },
): Promise<Readonly<Record<string, string>>> {
  // Nothing of an aborted request has left by then.
  const keys = await untilAborted(signal, credentials()).catch(() => {
    // The cause may quote a key.
    throw new PausedFailure('unauthorized', 'The option credentials gave no credentials of AWS');
  });
  const signed = { method, url: new URL(baseUrl + path), headers, body: body as string };
  return awsSignature(signed, keys, { region, ...scope });
}

/** A request as it goes out. */
export interface AwsRequest {
  readonly method: string;
  readonly url: URL;
  /** Those to be signed, except `host`, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface AwsScope {
  readonly region: string;
  /** The signing name of the service, such as `sms-voice`. */
  readonly service: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * The headers that sign a request (AWS Signature Version 4), beside those it has.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function awsSignature(
  { method, url, headers, body }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { region, service, at }: AwsScope,
): Readonly<Record<string, string>> {
  const time = new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const own = {
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const signed = Object.entries({ ...headers, ...own, host: url.host }).toSorted(byFirst);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname.split('/').map(encoded).join('/'),
    queryOf(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    hashOf(body),
  ].join('\n');
  const scope = [time.slice(0, 8), region, service, 'aws4_request'];
  const told = ['AWS4-HMAC-SHA256', time, scope.join('/'), hashOf(canonical)].join('\n');
  const key = scope.reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  const signature = hmac(key, told).toString('hex');
  const credential = `${accessKeyId}/${scope.join('/')}`;
  return {
    ...own,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted((one, other) => byFirst(one, other) || byText(one[1], other[1]))
    .map((field) => field.join('='))
    .join('&');
}

/** All but the unreserved characters of RFC 3986. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function byFirst([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return byText(one, other);
}

/** By code units, which are ASCII here. */
function byText(one: string, other: string): number {
  return Number(one > other) - Number(one < other);
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: Buffer, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest();
}
