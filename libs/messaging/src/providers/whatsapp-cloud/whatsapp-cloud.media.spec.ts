import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { PausedFailure } from '../../message/errors.js';
import { HTTP_WAYS, transportContext } from '../../../../../test/support/transport-context.js';
import { refuse, WhatsAppCloudServer } from '../../../../../test/support/whatsapp-cloud-server.js';
import { whatsappCloud, type WhatsAppCloudTransport } from './whatsapp-cloud.transport.js';

const { signal } = new AbortController();
/** Bytes that no text encoding keeps. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff]);

let server: WhatsAppCloudServer;
let transport: WhatsAppCloudTransport | undefined;
beforeEach(async () => void (server = await WhatsAppCloudServer.start()));
afterEach(async () => {
  await transport?.onApplicationShutdown();
  transport = undefined;
  await server.close();
});

function cloud(http = HTTP_WAYS[0]![1]): WhatsAppCloudTransport {
  const { url: baseUrl, token, phoneNumberId } = server;
  const made = whatsappCloud({ baseUrl, token, phoneNumberId });
  return (transport = made(transportContext({ http: http() })) as WhatsAppCloudTransport);
}

it.each(HTTP_WAYS)('an upload arrives byte by byte, %s', async (_, http) => {
  const media = { content: PNG, contentType: 'image/png', filename: 'a "b" ü.png' };
  const id = await cloud(http).uploadMedia(media, '', signal);
  expect(server.uploads).toEqual([{ id, type: 'image/png', filename: 'a "b" ü.png', bytes: PNG }]);
});

it("an upload that Meta refuses fails by Meta's code", async () => {
  server.answer((_request, response) => refuse(response, 401, 190, 'expired'));
  const uploaded = cloud().uploadMedia({ content: PNG, contentType: 'image/png' }, '', signal);
  await expect(uploaded).rejects.toBeInstanceOf(PausedFailure);
});
