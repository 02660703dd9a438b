import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  basicAuth,
  type CallbackParser,
  type CallbackVerifier,
  type TransportFactory,
} from '@dundun/messaging';
import { postmark, postmarkParser } from '@dundun/messaging/postmark';
import { resend, resendParser, resendSignature } from '@dundun/messaging/resend';
import { sendgrid, sendgridParser, sendgridSignature } from '@dundun/messaging/sendgrid';
import { ses, sesParser } from '@dundun/messaging/ses';
import { snsSignature } from '@dundun/messaging/sns';
import { certificates } from '../../support/certificates.js';
import { PostmarkServer } from '../../support/providers/postmark-server.js';
import { basic, type ProviderServer } from '../../support/providers/provider-server.js';
import { ResendServer } from '../../support/providers/resend-server.js';
import { SesServer } from '../../support/providers/ses-server.js';
import { SendGridServer } from '../../support/providers/sendgrid-server.js';

/** What becomes of an email. */
type Event = 'delivered' | 'bounced' | 'complained';

interface About {
  readonly submission: string;
  readonly to: string;
  /** Of a bounce: the answer of the recipient's server. @default of an unknown mailbox */
  readonly answer?: string;
  /** Of a bounce: the code of the provider, where its callbacks have one. */
  readonly code?: string;
}

const UNKNOWN = { answer: '550 5.1.1 user unknown', code: '5.1.1' } as const;

export interface EmailCallback {
  readonly body: string;
  readonly headers: object;
}

/** One provider of email with an app: its double, the transport to it, and the callbacks that it sends. */
export interface EmailProviderCase {
  readonly server: ProviderServer<unknown>;
  transport(): TransportFactory;
  readonly parser: CallbackParser;
  readonly verifier: CallbackVerifier;
  /** The callback about the email that the double took last. */
  callback(event: Event, about: About): EmailCallback | Promise<EmailCallback>;
  /** Its settings in the gateway's file of carriers, beside its type. */
  carrier(): Readonly<Record<string, string>>;
  /** The certificate that proves its callbacks, as SNS serves it. */
  certificate?(): Promise<string>;
  /** A repeat of a request under its key has the answer of the first. */
  readonly keyed: boolean;
  /** Requests of an email to recipients who see each other. */
  readonly sharedRequests: 1 | 'one each';
  /** It carries calendar invitations. */
  readonly invites: boolean;
}

function resendCase(): EmailProviderCase {
  const server = new ResendServer();
  const key = Buffer.alloc(24, 7);
  const secret = `whsec_${key.toString('base64')}`;
  return {
    server,
    transport: () => resend(server.options),
    parser: resendParser(),
    verifier: resendSignature(secret),
    callback: (event, { submission, to, answer = UNKNOWN.answer }) => {
      const bounce = {
        type: 'Permanent',
        subType: 'General',
        message: 'It failed',
        diagnosticCode: [`smtp; ${answer}`],
      };
      const body = JSON.stringify({
        type: `email.${event}`,
        created_at: new Date().toISOString(),
        data: {
          email_id: server.taken.at(-1)!.id,
          to: [to],
          tags: { submission },
          ...(event === 'bounced' && { bounce }),
        },
      });
      const at = Math.floor(Date.now() / 1_000);
      const signature = createHmac('sha256', key).update(`msg_1.${at}.${body}`).digest('base64');
      return {
        body,
        headers: {
          'svix-id': 'msg_1',
          'svix-timestamp': String(at),
          'svix-signature': `v1,${signature}`,
        },
      };
    },
    carrier: () => ({ api_key: server.apiKey, webhook_secret: secret, url: server.url }),
    keyed: true,
    sharedRequests: 1,
    invites: false,
  };
}

function postmarkCase(): EmailProviderCase {
  const server = new PostmarkServer();
  const [username, password] = ['postmark', 'secret-of-the-callbacks'] as const;
  const records = { delivered: 'Delivery', bounced: 'Bounce', complained: 'SpamComplaint' };
  return {
    server,
    transport: () => postmark(server.options),
    parser: postmarkParser(),
    verifier: basicAuth({ username, password }),
    callback: (event, { submission, to, answer = UNKNOWN.answer }) => ({
      body: JSON.stringify({
        RecordType: records[event],
        MessageID: server.taken.at(-1)!.id,
        Metadata: { submission },
        Email: to,
        Recipient: to,
        ...(event === 'bounced' && { Type: 'HardBounce', Details: `smtp;${answer}` }),
      }),
      headers: { authorization: basic(username, password) },
    }),
    carrier: () => ({
      server_token: server.serverToken,
      callback_secret: password,
      url: server.url,
    }),
    keyed: false,
    sharedRequests: 1,
    invites: false,
  };
}

function sendgridCase(): EmailProviderCase {
  const server = new SendGridServer();
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const verificationKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const events = { delivered: 'delivered', bounced: 'bounce', complained: 'spamreport' };
  return {
    server,
    transport: () => sendgrid(server.options),
    parser: sendgridParser(),
    verifier: sendgridSignature(verificationKey),
    callback: (event, { submission, to, answer = UNKNOWN.answer, code = UNKNOWN.code }) => {
      const bounce = { type: 'bounce', reason: answer, status: code };
      const body = JSON.stringify([
        {
          event: events[event],
          email: to,
          submission,
          sg_message_id: `${server.taken.at(-1)!.id}.filter.0`,
          timestamp: Math.floor(Date.now() / 1_000),
          ...(event === 'bounced' && bounce),
        },
      ]);
      const at = String(Math.floor(Date.now() / 1_000));
      return {
        body,
        headers: {
          'x-twilio-email-event-webhook-timestamp': at,
          'x-twilio-email-event-webhook-signature': sign(
            'sha256',
            Buffer.from(at + body),
            privateKey,
          ).toString('base64'),
        },
      };
    },
    carrier: () => ({ api_key: server.apiKey, public_key: verificationKey, url: server.url }),
    keyed: false,
    sharedRequests: 1,
    invites: false,
  };
}

function sesCase(): EmailProviderCase {
  const server = new SesServer();
  const topicArn = 'arn:aws:sns:eu-west-1:123456789012:mail';
  const made = certificates({ sns: { name: 'sns.amazonaws.com' } });
  const certificate = async () => (await made).of['sns']!.cert;
  const events = { delivered: 'Delivery', bounced: 'Bounce', complained: 'Complaint' };
  return {
    server,
    transport: () => ses(server.options),
    parser: sesParser(),
    verifier: snsSignature({ topicArn, get: certificate }),
    callback: async (event, about) => {
      const { submission, to, answer = UNKNOWN.answer, code: status = UNKNOWN.code } = about;
      const recipients = [{ emailAddress: to, status, diagnosticCode: `smtp; ${answer}` }];
      const content = {
        eventType: events[event],
        mail: { messageId: server.taken.at(-1)!.id, tags: { submission: [submission] } },
        delivery: { recipients: [to] },
        bounce: { bounceType: 'Permanent', bouncedRecipients: recipients },
        complaint: { complainedRecipients: recipients },
      };
      const message = {
        Message: JSON.stringify(content),
        MessageId: '165545c9-2a5c-472c-8df2-7ff2be2b3b1b',
        Timestamp: new Date().toISOString(),
        TopicArn: topicArn,
        Type: 'Notification',
      };
      const text = Object.entries(message)
        .map((pair) => `${pair.join('\n')}\n`)
        .join('');
      const Signature = sign('sha256', Buffer.from(text), (await made).of['sns']!.key);
      const body = JSON.stringify({
        ...message,
        Signature: Signature.toString('base64'),
        SignatureVersion: '2',
        SigningCertURL:
          'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
      });
      return { body, headers: { 'content-type': 'text/plain; charset=UTF-8' } };
    },
    carrier: () => ({
      region: server.region,
      access_key_id: server.credentials.accessKeyId,
      secret_access_key: server.credentials.secretAccessKey,
      configuration_set: 'mail',
      topic_arn: topicArn,
      url: server.url,
    }),
    certificate,
    keyed: false,
    sharedRequests: 'one each',
    invites: true,
  };
}

export const EMAIL_PROVIDERS: readonly (readonly [name: string, make: () => EmailProviderCase])[] =
  [
    ['resend', resendCase],
    ['postmark', postmarkCase],
    ['sendgrid', sendgridCase],
    ['ses', sesCase],
  ];
