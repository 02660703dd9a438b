import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const key = Buffer.from(process.env.WEBHOOK_SECRET.slice('whsec_'.length), 'base64');
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = headers;
  const digest = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const own = Buffer.from(`v1,${digest}`);
  const isOwn = (one) => one.length === own.length && timingSafeEqual(one, own);
  const isFresh = Math.abs(Date.now() / 1000 - Number(at)) < 300;
  return isFresh && given.split(' ').some((one) => isOwn(Buffer.from(one)));
}

const answer = async (request, response) => {
  const body = await text(request);
  const genuine = isGenuine(request.headers, body);
  if (genuine) console.log(JSON.parse(body).type);
  response.writeHead(genuine ? 204 : 401).end();
};
createServer((request, response) => void answer(request, response)).listen(8787, '127.0.0.1');
