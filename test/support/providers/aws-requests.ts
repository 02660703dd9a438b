import {
  type AwsCredentials,
  awsSignature,
} from '../../../libs/messaging/src/providers/http-client/aws-signature.js';
import type { ProviderServer } from './provider-server.js';

type Request = Parameters<ProviderServer<unknown>['handle']>[0];

const OWN = ['host', 'x-amz-date', 'x-amz-security-token'];

/** Whether a request has the signature of an account, over the headers that it says it has signed. */
export function isSigned(
  { method, url, headers, body }: Request,
  credentials: AwsCredentials,
  scope: { readonly region: string; readonly service: string },
): boolean {
  const time = String(headers['x-amz-date']);
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time)?.slice(1) ?? [];
  const [year, month, day, ...clock] = parts.map(Number) as [number, number, number];
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const signed = names
    .filter((name) => !OWN.includes(name))
    .map((name) => [name, String(headers[name])] as const);
  const { authorization } = awsSignature(
    {
      method,
      url: new URL(url, `http://${headers.host}`),
      headers: Object.fromEntries(signed),
      body,
    },
    credentials,
    { ...scope, at: Date.UTC(year, month - 1, day, ...clock) },
  );
  return (
    headers.authorization === authorization &&
    headers['x-amz-security-token'] === credentials.sessionToken
  );
}
