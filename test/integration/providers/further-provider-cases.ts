import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { sharedSecret } from '@dundun/messaging';
import { awsSms, awsSmsParser } from '@dundun/messaging/aws-sms';
import { bird, birdParser, birdSignature } from '@dundun/messaging/bird';
import { sinch, sinchParser, sinchSignature } from '@dundun/messaging/sinch';
import { telnyx, telnyxParser, telnyxSignature } from '@dundun/messaging/telnyx';
import { AwsSmsServer, eventOf, notificationOf } from '../../support/providers/aws-sms-server.js';
import { BirdServer, messageOf } from '../../support/providers/bird-server.js';
import { reportOf, SinchServer } from '../../support/providers/sinch-server.js';
import { payloadOf, TelnyxServer } from '../../support/providers/telnyx-server.js';
import {
  inSecretPath,
  ORIGIN,
  OURS,
  posted,
  type ProviderCase,
  type ProviderCases,
  SECRET,
} from './provider-case.js';

function telnyxCase(path: string): ProviderCase {
  const server = new TelnyxServer();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const signed = (event_type: string, payload: object) => {
    const data = { event_type, occurred_at: new Date().toISOString(), payload };
    const body = JSON.stringify({ data, meta: { attempt: 1 } });
    const at = String(Math.floor(Date.now() / 1_000));
    return posted(path, body, {
      'telnyx-timestamp': at,
      'telnyx-signature-ed25519': sign(null, Buffer.from(`${at}|${body}`), privateKey).toString(
        'base64',
      ),
    });
  };
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    server,
    transport: () => telnyx({ ...server.options, callbackUrl: ORIGIN + path }),
    parser: telnyxParser(),
    verifier: telnyxSignature({ publicKey: key.toString('base64') }),
    lastId: () => server.taken.at(-1)!.id,
    delivered: ({ id, submission, to }) => {
      const webhook_url = `${ORIGIN}${path}?submission=${submission}`;
      const request = { from: `+${OURS}`, to: `+${to}`, webhook_url };
      return signed('message.finalized', payloadOf({ id, request, status: 'delivered' }));
    },
    written: (from, text) =>
      signed('message.received', {
        id: `in-${from}-${text}`,
        type: 'SMS',
        direction: 'inbound',
        from: { phone_number: `+${from}` },
        to: [{ phone_number: `+${OURS}`, status: 'webhook_delivered' }],
        text,
        received_at: new Date().toISOString(),
      }),
    carrier: () => ({
      api_key: server.apiKey,
      public_key: key.toString('base64'),
      callback_url: ORIGIN,
      url: server.url,
    }),
    settles: true,
  };
}

function sinchCase(path: string): ProviderCase {
  const server = new SinchServer();
  const signed = (content: object) => {
    const body = JSON.stringify(content);
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', SECRET).update(`${body}.nonce-1.${at}`);
    return posted(path, body, {
      'x-sinch-webhook-signature': signature.digest('base64'),
      'x-sinch-webhook-signature-nonce': 'nonce-1',
      'x-sinch-webhook-signature-timestamp': at,
    });
  };
  return {
    server,
    transport: () => sinch({ ...server.options, callbackUrl: ORIGIN + path }),
    parser: sinchParser(),
    verifier: sinchSignature(SECRET),
    lastId: () => server.taken.at(-1)!.id,
    delivered: ({ id, submission, to }) => {
      const request = { to: [to], body: '', client_reference: submission };
      return signed(reportOf({ id, request, status: 'Delivered' }));
    },
    written: (from, text) =>
      signed({
        type: 'mo_text',
        id: `in-${from}-${text}`,
        from,
        to: OURS,
        body: text,
        received_at: new Date().toISOString(),
      }),
    carrier: () => ({
      service_plan_id: server.servicePlanId,
      api_token: server.apiToken,
      callback_url: ORIGIN,
      callback_secret: SECRET,
      callback_proof: 'signature',
      url: server.url,
    }),
    settles: true,
  };
}

function birdCase(path: string): ProviderCase {
  const server = new BirdServer();
  const signed = (event: string, payload: object) => {
    const body = JSON.stringify({ service: 'channels', event, payload });
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', SECRET)
      .update(`${at}\n${ORIGIN}${path}\n`)
      .update(createHash('sha256').update(body).digest());
    return posted(path, body, {
      'messagebird-signature': signature.digest('base64'),
      'messagebird-request-timestamp': at,
    });
  };
  const contactOf = (number: string) => ({
    identifierKey: 'phonenumber',
    identifierValue: `+${number}`,
  });
  return {
    server,
    transport: () => bird(server.options),
    parser: birdParser(),
    verifier: birdSignature({ signingKey: SECRET, origin: ORIGIN }),
    lastId: () => server.taken.at(-1)!.id,
    delivered: ({ id, submission, to }) => {
      const request = { receiver: { contacts: [contactOf(to)] }, reference: submission };
      return signed('sms.outbound', messageOf({ id, request, status: 'delivered' }));
    },
    written: (from, text) =>
      signed('sms.inbound', {
        id: `in-${from}-${text}`,
        channelId: server.channelId,
        sender: { contact: contactOf(from) },
        receiver: { connector: { id: '86cc4dc0-3dc0-41b7-ac43-8ec829ead56f' } },
        body: { type: 'text', text: { text } },
        status: 'delivered',
        direction: 'incoming',
        createdAt: new Date().toISOString(),
      }),
    carrier: () => ({
      access_key: server.accessKey,
      workspace_id: server.workspaceId,
      channel_id: server.channelId,
      number: OURS,
      signing_key: SECRET,
      callback_url: ORIGIN,
      url: server.url,
    }),
    settles: true,
  };
}

function awsSmsCase(path: string): ProviderCase {
  const server = new AwsSmsServer();
  const notified = (content: object) => inSecretPath(path, JSON.stringify(notificationOf(content)));
  return {
    server,
    transport: () => awsSms(server.options),
    parser: awsSmsParser(),
    verifier: sharedSecret({ secret: SECRET }),
    lastId: () => server.taken.at(-1)!.id,
    delivered: ({ id, submission, to }) => notified(eventOf('TEXT_DELIVERED', id, to, submission)),
    written: (from, text) =>
      notified({
        originationNumber: `+${from}`,
        destinationNumber: `+${OURS}`,
        messageBody: text,
        inboundMessageId: `in-${from}-${text}`,
      }),
    carrier: () => ({
      region: server.region,
      access_key_id: server.credentials.accessKeyId,
      secret_access_key: server.credentials.secretAccessKey,
      callback_secret: SECRET,
      url: server.url,
    }),
    settles: true,
  };
}

export const FURTHER_PROVIDERS: ProviderCases = [
  ['telnyx', telnyxCase],
  ['sinch', sinchCase],
  ['bird', birdCase],
  ['aws-sms', awsSmsCase],
];
