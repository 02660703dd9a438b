import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { requireBodyType } from '../../callbacks/callback-body.js';
import { MessagingConfigError } from '../../message/errors.js';
import { moment, own } from '../../message/report-fields.js';
import type { CallbackVerifier } from '../../ports/callback-parser.js';
import {
  callback,
  group,
  type OptionReader,
  type ReadersOf,
  withDefault,
} from '../../ports/option-schema.js';
import { snsMessage } from './sns-message.js';
import { parsedUrl } from '../../message/url.js';

const ARN = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z0-9-]{3,32}):\d{12}:[\w.-]{1,256}$/;
const CERTIFICATE = /^\/SimpleNotificationService-[0-9a-f]{8,64}\.pem$/;
const TIMEOUT = 5_000;
const MOST_CERTIFICATES = 16;
/** Most certificates that are fetched at the same time. */
const MOST_FETCHED = 8;
/** Milliseconds for which a certificate that could not be had is not asked for again. */
const FORGET_AFTER = 60_000;
/** Most octets of an answer of SNS. */
const MOST_OCTETS = 65_536;
/** Milliseconds for which a message counts: SNS repeats one for less than an hour by default. */
const OLDEST = 86_400_000;

const TYPES: readonly unknown[] = [
  'Notification',
  'SubscriptionConfirmation',
  'UnsubscribeConfirmation',
];

/** Host of SNS by topic. */
const topics: OptionReader<ReadonlyMap<string, string>, string | readonly string[]> = (
  option,
  given,
) => {
  const list = [given].flat();
  const hosts = list.map((arn) => {
    const [name = '', partition, region] = (typeof arn === 'string' && ARN.exec(arn)) || [];
    if (region === undefined)
      throw new MessagingConfigError(
        `${option}: must be the ARN of a topic, such as arn:aws:sns:eu-west-1:123456789012:mail`,
      );
    const end = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
    return [name, `sns.${region}.${end}`] as const;
  });
  if (hosts.length === 0) throw new MessagingConfigError(`${option}: must name a topic`);
  return new Map(hosts);
};

export interface SnsSignatureOptions {
  /** ARN of the topic with the events; several for several regions. */
  readonly topicArn: string | readonly string[];
  /** Gets an `https` address of SNS, such as through a proxy. @default a direct request of 5 s */
  readonly get?: (url: string) => Promise<string>;
}

const read = group({
  topicArn: topics,
  get: withDefault(callback<(url: string) => Promise<string>>(), getText),
} satisfies ReadersOf<SnsSignatureOptions>);

/** By the version of the signature. */
const HASHES: ReadonlyMap<unknown, string> = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);

/** Fields of a message that are signed, where it has them, in this order. */
const SIGNED = [
  'Message',
  'MessageId',
  'Subject',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
];

/**
 * Verifies the messages of a topic of Amazon SNS by their certificate (signature versions 1 and 2), and
 * confirms the subscription of the callback's address. Certificate and confirmation are requests to SNS
 * in the region of the topic, `sns.{region}.amazonaws.com`, and to no other host. A message of another
 * topic is refused, because the same certificate signs for every account of AWS. Where SNS cannot be reached, the callback is answered 503.
 * @throws MessagingConfigError naming the wrong option
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 * @example
 * snsSignature({ topicArn: 'arn:aws:sns:eu-west-1:123456789012:mail' })
 */
export function snsSignature(options: SnsSignatureOptions): CallbackVerifier {
  const { topicArn, get } = read('snsSignature', options);
  const certificates = new Certificates(get);
  return {
    verify: async (request) => {
      const message = request.method === 'GET' ? undefined : snsMessage(request);
      if (!message) requireBodyType(request);
      const arn = own(message, 'TopicArn');
      if (typeof arn !== 'string' || !isSound(message)) return false;
      const sent = moment(own(message, 'Timestamp'));
      if (!sent || Math.abs(request.receivedAt - sent.getTime()) > OLDEST) return false;
      const host = topicArn.get(arn);
      const address = addressAt(host, own(message, 'SigningCertURL'));
      if (!address || !CERTIFICATE.test(address.pathname) || address.search !== '') return false;
      const hash = HASHES.get(own(message, 'SignatureVersion'));
      const signature = own(message, 'Signature');
      if (hash === undefined || typeof signature !== 'string') return false;
      const key = await certificates.keyAt(address.href, request.receivedAt);
      const given = Buffer.from(signature, 'base64');
      if (!verify(hash, Buffer.from(signedText(message)), key, given)) return false;
      if (own(message, 'Type') !== 'SubscriptionConfirmation') return true;
      const confirmation = addressAt(host, own(message, 'SubscribeURL'));
      if (confirmation?.searchParams.get('Action') !== 'ConfirmSubscription') return false;
      if (confirmation.searchParams.get('TopicArn') !== arn) return false;
      await get(confirmation.href);
      return true;
    },
  };
}

/**
 * Keys of certificates by their address. A stranger may name many: few are fetched at the same time, and one
 * that could not be had is not asked for again at once.
 */
class Certificates {
  readonly #known = new Map<string, X509Certificate>();
  readonly #fetching = new Map<string, Promise<X509Certificate>>();
  /** Until when by address, in epoch milliseconds. */
  readonly #missing = new Map<string, number>();

  constructor(private readonly get: (url: string) => Promise<string>) {}

  /** @throws Error where it cannot be had now */
  async keyAt(url: string, now: number): Promise<KeyObject> {
    const certificate = this.#known.get(url) ?? (await this.#fetch(url, now));
    if (Date.parse(certificate.validTo) < now) throw new Error('the certificate has expired');
    return certificate.publicKey;
  }

  async #fetch(url: string, now: number): Promise<X509Certificate> {
    if ((this.#missing.get(url) ?? 0) > now) throw new Error('the certificate could not be had');
    const under = this.#fetching.get(url);
    if (under) return under;
    if (this.#fetching.size >= MOST_FETCHED) throw new Error('others are fetched');
    const certificate = this.get(url).then((pem) => new X509Certificate(pem));
    this.#fetching.set(url, certificate);
    try {
      const got = await certificate;
      if (this.#known.size >= MOST_CERTIFICATES) this.#known.clear();
      this.#known.set(url, got);
      return got;
    } catch (error) {
      if (this.#missing.size >= MOST_CERTIFICATES) this.#missing.clear();
      this.#missing.set(url, now + FORGET_AFTER);
      throw error;
    } finally {
      this.#fetching.delete(url);
    }
  }
}

/**
 * Whether the signed text can be read in one way only. A signed field that is no text would be left out of
 * it, and a line break could stand for another field: the certificate signs for the topics of everybody.
 */
function isSound(message: unknown): boolean {
  return (
    TYPES.includes(own(message, 'Type')) &&
    SIGNED.every((name) => {
      const value = own(message, name) ?? undefined;
      if (value === undefined) return true;
      return typeof value === 'string' && (name === 'Message' || !/[\r\n]/.test(value));
    })
  );
}

function signedText(message: unknown): string {
  return SIGNED.map((name) => [name, own(message, name)] as const)
    .filter(([, value]) => typeof value === 'string')
    .map((pair) => `${pair.join('\n')}\n`)
    .join('');
}

/** The address, where it is one of the host over TLS. */
function addressAt(host: string | undefined, given: unknown): URL | undefined {
  if (host === undefined || typeof given !== 'string') return undefined;
  const url = parsedUrl(given);
  return url?.origin === `https://${host}` && url.username === '' ? url : undefined;
}

async function getText(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) });
  if (!answer.ok || !answer.body) throw new Error(`SNS answered ${answer.status}`);
  const parts: Uint8Array[] = [];
  let octets = 0;
  for await (const part of answer.body) {
    octets += part.length;
    if (octets > MOST_OCTETS) throw new Error('the answer of SNS is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
