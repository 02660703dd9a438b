import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { callbackRequest } from '../../../../test/support/callback-request.js';
import { BirdServer } from '../../../../test/support/providers/bird-server.js';
import { ClickatellServer } from '../../../../test/support/providers/clickatell-server.js';
import { InfobipServer } from '../../../../test/support/providers/infobip-server.js';
import { PlivoServer } from '../../../../test/support/providers/plivo-server.js';
import { basic, type ProviderServer } from '../../../../test/support/providers/provider-server.js';
import { SinchServer } from '../../../../test/support/providers/sinch-server.js';
import { TelnyxServer } from '../../../../test/support/providers/telnyx-server.js';
import { TwilioServer } from '../../../../test/support/providers/twilio-server.js';
import { VonageServer } from '../../../../test/support/providers/vonage-server.js';
import { HTTP_WAYS, transportContext } from '../../../../test/support/transport-context.js';
import { WhatsAppCloudServer } from '../../../../test/support/whatsapp-cloud-server.js';
import type { CallbackParser } from '../ports/callback-parser.js';
import type {
  InboundMedia,
  MessageTransport,
  TransportFactory,
} from '../ports/message-transport.js';
import { bird, birdParser } from './bird/index.js';
import { clickatell, clickatellParser } from './clickatell/index.js';
import { infobip, infobipParser } from './infobip/index.js';
import { plivo, plivoParser } from './plivo/index.js';
import { sinch, sinchParser } from './sinch/index.js';
import { telnyx, telnyxParser } from './telnyx/index.js';
import { twilio, twilioParser } from './twilio/index.js';
import { vonage, vonageParser } from './vonage/index.js';
import { whatsappCloud, whatsappCloudParser } from './whatsapp-cloud/index.js';

const FROM = '2348012345678';
const TO = '2348000000001';
const BYTES = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 10, 13]);
const UUID = 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab';

interface MediaCase {
  readonly server: ProviderServer<unknown>;
  readonly transport: () => TransportFactory;
  readonly parser: CallbackParser;
  readonly path: string;
  /** The `Authorization` that the file needs. */
  readonly credential?: string;
  /** A callback with an image at the address. */
  readonly callback: (address: string) => object;
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

async function twilioCase(): Promise<MediaCase> {
  const server = new TwilioServer();
  await server.listen();
  const sid = (of: string) => of + '0a'.repeat(16);
  return {
    server,
    transport: () => twilio(server.options),
    parser: twilioParser(),
    path: `/2010-04-01/Accounts/${server.accountSid}/Messages/${sid('MM')}/Media/${sid('ME')}`,
    credential: basic(server.accountSid, server.authToken),
    callback: (address) => ({
      SmsStatus: 'received',
      MessageSid: sid('MM'),
      From: `+${FROM}`,
      To: `+${TO}`,
      Body: '',
      NumMedia: '1',
      MediaContentType0: 'image/png',
      MediaUrl0: address,
    }),
  };
}

async function vonageCase(): Promise<MediaCase> {
  const server = new VonageServer();
  await server.listen();
  return {
    server,
    transport: () => vonage({ baseUrl: server.url, applicationId: UUID, privateKey }),
    parser: vonageParser(),
    path: `/v3/media/${UUID}`,
    callback: (address) => ({
      channel: 'mms',
      message_uuid: UUID,
      to: TO,
      from: FROM,
      message_type: 'image',
      image: { url: address, name: 'a.png' },
    }),
  };
}

async function infobipCase(): Promise<MediaCase> {
  const server = new InfobipServer();
  await server.listen();
  return {
    server,
    transport: () => infobip(server.options),
    parser: infobipParser(),
    path: `/whatsapp/1/senders/${TO}/media/20288_11_733744599387627`,
    credential: `App ${server.options.apiKey}`,
    callback: (address) => ({
      results: [
        {
          from: FROM,
          to: TO,
          integrationType: 'WHATSAPP',
          messageId: 'wamid.1',
          message: { type: 'IMAGE', url: address },
        },
      ],
    }),
  };
}

async function plivoCase(): Promise<MediaCase> {
  const server = new PlivoServer();
  await server.listen();
  const { authId, authToken } = server.options;
  return {
    server,
    transport: () => plivo(server.options),
    parser: plivoParser(),
    path: `/v1/Account/${authId}/Message/${UUID}/Media/${UUID}/`,
    credential: basic(authId, authToken),
    callback: (address) => ({
      MessageUUID: UUID,
      From: FROM,
      To: TO,
      Type: 'mms',
      Body: '',
      MediaCount: '1',
      Media0: address,
    }),
  };
}

async function telnyxCase(): Promise<MediaCase> {
  const server = new TelnyxServer();
  await server.listen();
  return {
    server,
    transport: () => telnyx(server.options),
    parser: telnyxParser(),
    path: '/media/photo.png',
    callback: (address) => ({
      data: {
        event_type: 'message.received',
        payload: {
          id: UUID,
          type: 'MMS',
          from: { phone_number: `+${FROM}` },
          to: [{ phone_number: `+${TO}` }],
          text: '',
          media: [{ url: address, content_type: 'image/png', size: BYTES.length }],
        },
      },
    }),
  };
}

async function sinchCase(): Promise<MediaCase> {
  const server = new SinchServer();
  await server.listen();
  return {
    server,
    transport: () => sinch(server.options),
    parser: sinchParser(),
    path: '/media/photo.png',
    callback: (address) => ({
      type: 'mo_media',
      id: UUID,
      from: FROM,
      to: TO,
      received_at: '2026-01-15T14:30:22.123Z',
      body: {
        subject: 'Photo',
        message: '',
        media: [{ url: address, content_type: 'image/png', status: 'Uploaded', code: 0 }],
      },
    }),
  };
}

async function birdCase(): Promise<MediaCase> {
  const server = new BirdServer();
  await server.listen();
  return {
    server,
    transport: () => bird(server.options),
    parser: birdParser(),
    path: `/workspaces/${UUID}/messages/${UUID}/media/${UUID}`,
    credential: `AccessKey ${server.options.accessKey}`,
    callback: (address) => ({
      event: 'sms.inbound',
      payload: {
        id: UUID,
        channelId: UUID,
        sender: { contact: { identifierValue: `+${FROM}` } },
        body: { type: 'image', image: { images: [{ mediaUrl: address }] } },
      },
    }),
  };
}

async function clickatellCase(): Promise<MediaCase> {
  const server = new ClickatellServer();
  await server.listen();
  return {
    server,
    transport: () => clickatell(server.options),
    parser: clickatellParser(),
    path: '/v1/media?fileId=UUID-1.xxx&sha256Hash=529fd5482f43db39',
    credential: server.options.apiKey,
    callback: (address) => ({
      event: {
        moMedia: [
          {
            channel: 'whatsapp',
            messageId: UUID,
            from: FROM,
            to: TO,
            files: [{ contentType: 'image/png', downloadUrl: address, byteSize: BYTES.length }],
          },
        ],
      },
    }),
  };
}

const CASES = {
  Twilio: twilioCase,
  Vonage: vonageCase,
  Infobip: infobipCase,
  Plivo: plivoCase,
  Telnyx: telnyxCase,
  Sinch: sinchCase,
  Bird: birdCase,
  Clickatell: clickatellCase,
};

const { signal } = new AbortController();

function filesIn(parser: CallbackParser, body: object) {
  const { messages = [], errors } = parser.parse(callbackRequest({ body }));
  expect(errors).toEqual([]);
  const content = messages[0]?.content;
  return content?.kind === 'media' ? content.files : [];
}

function fetchFrom(transport: MessageTransport, source: string): Promise<InboundMedia> {
  const file = { type: 'image', contentType: null, filename: null, size: null, source } as const;
  const media = { channel: 'sms', messageId: 'm-1', to: TO, file };
  return transport.fetchMedia?.(media, signal) ?? Promise.reject(new Error('it fetches no files'));
}

describe.each(Object.entries(CASES))('%s', (name, make) => {
  let one: MediaCase;
  const transports: MessageTransport[] = [];
  const transportBy = (http: ReturnType<(typeof HTTP_WAYS)[number][1]>) => {
    const transport = one.transport()(transportContext({ http }));
    transports.push(transport);
    return transport;
  };
  beforeAll(async () => {
    one = await make();
  });
  afterEach(async () => {
    one.server.answer(undefined);
    one.server.files.clear();
    for (const transport of transports.splice(0))
      await (transport as { onApplicationShutdown?(): Promise<void> }).onApplicationShutdown?.();
  });
  afterAll(() => one.server.close());
  const served = { bytes: BYTES, contentType: 'image/png' };

  it.each(HTTP_WAYS)(
    `the image that a callback of ${name} names is fetched with the credential, %s`,
    async (_way, http) => {
      one.server.files.set(one.path, {
        ...served,
        ...(one.credential !== undefined && { credential: one.credential }),
      });
      const [file] = filesIn(one.parser, one.callback(one.server.url + one.path));
      expect(file?.source).toBe(one.server.url + one.path);
      const media = await fetchFrom(transportBy(http()), file?.source ?? '');
      expect(media).toMatchObject({ contentType: 'image/png', size: BYTES.length });
      expect(await buffer(media.stream)).toEqual(BYTES);
    },
  );

  it(`a file that ${name} has no longer is expired, and one that fails is unavailable`, async () => {
    const transport = transportBy(undefined);
    const answer = (status: number) =>
      one.server.answer((_request, response) => void response.writeHead(status).end('{}'));
    answer(404);
    await expect(fetchFrom(transport, one.server.url + one.path)).rejects.toMatchObject({
      name: 'InboundMediaError',
      code: 'media_expired',
    });
    answer(503);
    await expect(fetchFrom(transport, one.server.url + one.path)).rejects.toMatchObject({
      name: 'InboundMediaError',
      code: 'unavailable',
    });
  });

  it(`an address that is none of the files of ${name} is not called`, async () => {
    const transport = transportBy(undefined);
    const before = one.server.requests.length;
    const { port } = new URL(one.server.url);
    const [plain = ''] = one.path.split('?');
    for (const address of [
      'http://169.254.169.254/latest/meta-data/',
      `http://localhost:${port}${one.path}`,
      `http://user:secret@127.0.0.1:${port}${one.path}`,
      `${one.server.url}/v1/account/balance`,
      `${one.server.url}${plain}/../../../../../../../account`,
      `${one.server.url}/%2e%2e${plain}x/y`,
      'file:///etc/passwd',
      'not an address',
    ])
      await expect(fetchFrom(transport, address)).rejects.toMatchObject({
        name: 'InboundMediaError',
        code: 'unsupported',
        message: expect.stringContaining('none of the files of the provider'),
      });
    expect(one.server.requests.length).toBe(before);
  });

  it(`a redirect of ${name} to a host that is none of its own is not followed`, async () => {
    const transport = transportBy(undefined);
    one.server.answer((_request, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    });
    await expect(fetchFrom(transport, one.server.url + one.path)).rejects.toMatchObject({
      code: 'unsupported',
    });
  });
});

describe('WhatsApp Cloud API', () => {
  const ID = '1013859600285441';
  let server: WhatsAppCloudServer;
  let transport: MessageTransport;
  beforeAll(async () => {
    server = await WhatsAppCloudServer.start();
    const { token, phoneNumberId, url: baseUrl } = server;
    transport = whatsappCloud({ token, phoneNumberId, baseUrl })(transportContext());
  });
  afterEach(() => server.answer(undefined));
  afterAll(() => server.close());

  it('a file of WhatsApp is fetched in two steps: its address, and its bytes with the token', async () => {
    server.files.set(ID, { type: 'image/jpeg', bytes: BYTES });
    const [file] = filesIn(whatsappCloudParser(), {
      entry: [
        {
          changes: [
            {
              field: 'messages',
              value: {
                metadata: { display_phone_number: TO },
                messages: [
                  {
                    from: FROM,
                    id: 'wamid.1',
                    timestamp: '1751247548',
                    type: 'image',
                    image: { id: ID, mime_type: 'image/jpeg', sha256: 'x' },
                  },
                ],
              },
            },
          ],
        },
      ],
    });
    const media = await fetchFrom(transport, file?.source ?? '');
    expect(media.contentType).toBe('image/jpeg');
    expect(await buffer(media.stream)).toEqual(BYTES);
    const asked = server.requests.map(({ url, headers }) => [
      url.split('?')[0],
      headers.authorization,
    ]);
    expect(asked).toEqual([
      [`/v23.0/${ID}`, `Bearer ${server.token}`],
      ['/whatsapp_business/attachments/', `Bearer ${server.token}`],
    ]);
  });

  it('a file that Meta knows no longer is expired, and an id of another form is not asked for', async () => {
    await expect(fetchFrom(transport, '99999')).rejects.toMatchObject({ code: 'media_expired' });
    const before = server.requests.length;
    for (const source of ['me', '../me', `${ID}?fields=token`, 'https://example.com/1'])
      await expect(fetchFrom(transport, source)).rejects.toMatchObject({ code: 'unsupported' });
    expect(server.requests.length).toBe(before);
  });

  it('an address that Meta does not give is not called', async () => {
    server.answer((_request, response) => {
      const body = JSON.stringify({ url: 'http://169.254.169.254/', id: ID });
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    await expect(fetchFrom(transport, ID)).rejects.toMatchObject({ code: 'unsupported' });
  });
});
