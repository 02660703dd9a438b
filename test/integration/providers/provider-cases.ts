import { createHash, createHmac } from 'node:crypto';
import { sharedSecret } from '@dundun/messaging';
import { africasTalking, africasTalkingParser } from '@dundun/messaging/africas-talking';
import { clickatell, clickatellParser } from '@dundun/messaging/clickatell';
import { infobip, infobipParser } from '@dundun/messaging/infobip';
import { plivo, plivoParser, plivoSignature } from '@dundun/messaging/plivo';
import { termii, termiiParser, termiiSignature } from '@dundun/messaging/termii';
import { twilio, twilioParser, twilioSignature } from '@dundun/messaging/twilio';
import { vonage, vonageParser, vonageSignature } from '@dundun/messaging/vonage';
import { AfricasTalkingServer } from '../../support/providers/africas-talking-server.js';
import { ClickatellServer } from '../../support/providers/clickatell-server.js';
import { InfobipServer } from '../../support/providers/infobip-server.js';
import { PlivoServer } from '../../support/providers/plivo-server.js';
import { TermiiServer } from '../../support/providers/termii-server.js';
import { TwilioServer } from '../../support/providers/twilio-server.js';
import { VonageServer } from '../../support/providers/vonage-server.js';
import { FURTHER_PROVIDERS } from './further-provider-cases.js';
import {
  form,
  inSecretPath,
  ORIGIN,
  OURS,
  posted,
  type ProviderCase,
  type ProviderCases,
  SECRET,
} from './provider-case.js';

function twilioCase(path: string): ProviderCase {
  const server = new TwilioServer();
  const { authToken } = server;
  const signed = (fields: Readonly<Record<string, string>>, query = '') => {
    const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const signature = createHmac('sha1', authToken)
      .update(`${ORIGIN}${path}${query}${sorted.flat().join('')}`)
      .digest('base64');
    return posted(path + query, form(fields), { 'x-twilio-signature': signature });
  };
  return {
    server,
    transport: () => twilio({ ...server.options, callbackUrl: ORIGIN + path }),
    parser: twilioParser(),
    verifier: twilioSignature({ authToken, origin: ORIGIN }),
    lastId: () => server.taken.at(-1)!.sid,
    delivered: ({ id, submission, to }) =>
      signed(
        { MessageSid: id, MessageStatus: 'delivered', To: `+${to}`, From: `+${OURS}` },
        `?submission=${submission}`,
      ),
    written: (from, text) =>
      signed({ MessageSid: `in-${from}-${text}`, From: `+${from}`, To: `+${OURS}`, Body: text }),
    carrier: () => ({
      account_sid: server.accountSid,
      auth_token: authToken,
      callback_url: ORIGIN,
      url: server.url,
    }),
    settles: true,
  };
}

function vonageCase(path: string): ProviderCase {
  const server = new VonageServer();
  const signed = (content: object) => {
    const body = JSON.stringify(content);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      iat: Math.floor(Date.now() / 1_000),
      payload_hash: createHash('sha256').update(body).digest('hex'),
    };
    const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
    const signature = createHmac('sha256', SECRET).update(head).digest('base64url');
    return posted(path, body, { authorization: `Bearer ${head}.${signature}` });
  };
  const timestamp = () => new Date().toISOString();
  return {
    server,
    transport: () => vonage({ ...server.options, callbackUrl: ORIGIN + path }),
    parser: vonageParser(),
    verifier: vonageSignature({ secret: SECRET }),
    lastId: () => `aaaaaaaa-bbbb-4ccc-8ddd-${String(server.taken.length).padStart(12, '0')}`,
    delivered: ({ id, submission, to }) =>
      signed({
        message_uuid: id,
        to,
        from: OURS,
        timestamp: timestamp(),
        status: 'delivered',
        client_ref: submission,
        channel: 'sms',
      }),
    written: (from, text) =>
      signed({
        message_uuid: `in-${from}-${text}`,
        to: OURS,
        from,
        timestamp: timestamp(),
        channel: 'sms',
        message_type: 'text',
        text,
      }),
    carrier: () => ({
      api_key: server.apiKey,
      api_secret: server.apiSecret,
      signature_secret: SECRET,
      callback_url: ORIGIN,
      url: server.url,
    }),
    settles: true,
  };
}

function infobipCase(path: string): ProviderCase {
  const server = new InfobipServer();
  const at = () => new Date().toISOString().replace('Z', '+0000');
  const listed = (entry: object) => inSecretPath(path, JSON.stringify({ results: [entry] }));
  return {
    server,
    transport: () => infobip({ ...server.options, callbackUrl: `${ORIGIN}${path}/${SECRET}` }),
    parser: infobipParser(),
    verifier: sharedSecret({ secret: SECRET }),
    lastId: () => server.taken.at(-1)!.messageId,
    delivered: ({ id, submission, to }) =>
      listed({
        bulkId: 'b',
        messageId: id,
        to,
        doneAt: at(),
        callbackData: submission,
        status: { groupName: 'DELIVERED', name: 'DELIVERED_TO_HANDSET' },
        error: { name: 'NO_ERROR' },
      }),
    written: (from, text) =>
      listed({ messageId: `in-${from}-${text}`, from, to: OURS, text, receivedAt: at() }),
    carrier: () => ({
      url: server.url,
      api_key: server.apiKey,
      callback_url: ORIGIN,
      callback_secret: SECRET,
    }),
    settles: true,
  };
}

function africasTalkingCase(path: string): ProviderCase {
  const server = new AfricasTalkingServer();
  return {
    server,
    transport: () => africasTalking(server.options),
    parser: africasTalkingParser(),
    verifier: sharedSecret({ secret: SECRET }),
    lastId: () => `ATXid_${server.taken.length}`,
    delivered: ({ id, to }) =>
      inSecretPath(
        path,
        form({ id, status: 'Success', phoneNumber: `+${to}`, networkCode: '62130' }),
      ),
    written: (from, text) =>
      inSecretPath(
        path,
        form({ id: `in-${from}-${text}`, from: `+${from}`, to: OURS, text, date: 'x' }),
      ),
    carrier: () => ({
      username: 'acme',
      api_key: server.apiKey,
      callback_secret: SECRET,
      url: server.url,
    }),
    settles: false,
  };
}

function termiiCase(path: string): ProviderCase {
  const server = new TermiiServer();
  const signed = (content: object) => {
    const body = JSON.stringify(content);
    const signature = createHmac('sha512', SECRET).update(body).digest('hex');
    return posted(path, body, { 'x-termii-signature': signature });
  };
  return {
    server,
    transport: () => termii(server.options),
    parser: termiiParser(),
    verifier: termiiSignature(SECRET),
    lastId: () => `9122821270554876${String(server.taken.length).padStart(3, '0')}`,
    delivered: ({ id, to }) =>
      signed({
        type: 'outbound',
        message_id: id,
        receiver: to,
        sender: OURS,
        status: 'DELIVERED | Message delivered to handset',
        channel: 'generic',
      }),
    written: (from, text) =>
      signed({
        type: 'inbound',
        message_id: `in-${from}-${text}`,
        receiver: OURS,
        sender: from,
        message: text,
        channel: 'generic',
      }),
    carrier: () => ({ url: server.url, api_key: server.apiKey, secret_key: SECRET, route: 'dnd' }),
    settles: false,
  };
}

function plivoCase(path: string): ProviderCase {
  const server = new PlivoServer();
  const { authToken } = server;
  /** Version 3. */
  const signed = (fields: Readonly<Record<string, string>>, query = '') => {
    const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const content = `${query}${query && '.'}${sorted.flat().join('')}`;
    const signature = createHmac('sha256', authToken)
      .update(`${ORIGIN}${path}?${content}.nonce-1`)
      .digest('base64');
    return posted(query === '' ? path : `${path}?${query}`, form(fields), {
      'x-plivo-signature-v3': signature,
      'x-plivo-signature-v3-nonce': 'nonce-1',
    });
  };
  return {
    server,
    transport: () => plivo({ ...server.options, callbackUrl: ORIGIN + path }),
    parser: plivoParser(),
    verifier: plivoSignature({ authToken, origin: ORIGIN }),
    lastId: () => server.taken.at(-1)!.id,
    delivered: ({ id, submission, to }) =>
      signed(
        { MessageUUID: id, To: to, From: OURS, Status: 'delivered', ErrorCode: '000' },
        `submission=${submission}`,
      ),
    written: (from, text) =>
      signed({ MessageUUID: `in-${from}-${text}`, From: from, To: OURS, Text: text, Type: 'sms' }),
    carrier: () => ({
      auth_id: server.authId,
      auth_token: authToken,
      callback_url: ORIGIN,
      url: server.url,
    }),
    settles: true,
  };
}

function clickatellCase(path: string): ProviderCase {
  const server = new ClickatellServer();
  const event = (name: string, entry: object) =>
    inSecretPath(path, JSON.stringify({ integrationId: 'i', event: { [name]: [entry] } }));
  return {
    server,
    transport: () => clickatell(server.options),
    parser: clickatellParser(),
    verifier: sharedSecret({ secret: SECRET }),
    lastId: () => `fd496adebb6e42258736${String(server.taken.length).padStart(12, '0')}`,
    delivered: ({ id, submission, to }) =>
      event('messageStatusUpdate', {
        channel: 'sms',
        messageId: id,
        clientMessageId: `${submission}.${to}`,
        timestamp: Date.now(),
        statusCode: 5,
        status: 'DEVICE_ACK',
      }),
    written: (from, text) =>
      event('moText', {
        channel: 'sms',
        messageId: `in-${from}-${text}`,
        from,
        to: OURS,
        content: text,
        timestamp: Date.now(),
      }),
    carrier: () => ({ api_key: server.apiKey, callback_secret: SECRET, url: server.url }),
    settles: true,
  };
}

export const PROVIDERS: ProviderCases = [
  ['twilio', twilioCase],
  ['vonage', vonageCase],
  ['infobip', infobipCase],
  ['africas-talking', africasTalkingCase],
  ['termii', termiiCase],
  ['plivo', plivoCase],
  ['clickatell', clickatellCase],
  ...FURTHER_PROVIDERS,
];
