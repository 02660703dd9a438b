import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from '../../support/eventually.js';
import { Processes } from '../gateway/built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { codeOf, PASSWORD, type PortalClient, signedIn } from './portal-client.js';

/** An open event stream. */
class Live {
  text = '';
  readonly ended: Promise<unknown>;

  private constructor(
    private readonly sent: ClientRequest,
    readonly answer: IncomingMessage,
  ) {
    answer.setEncoding('utf8').on('data', (chunk: string) => (this.text += chunk));
    this.ended = once(answer, 'end');
    // The test itself may close it.
    this.ended.catch(() => undefined);
    answer.on('error', () => undefined);
  }

  static async open(url: string, cookie: string): Promise<Live> {
    const sent = request(`${url}/portal/api/live`, { headers: { cookie } });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return new Live(sent, answer);
  }

  async told(pattern: RegExp, from = 0): Promise<void> {
    while (!pattern.test(this.text.slice(from))) await once(this.answer, 'data');
  }

  close(): void {
    this.sent.destroy();
  }
}

describe('live pages', () => {
  const gateway = new TestGateway();
  let open: Live[] = [];
  beforeAll(() => gateway.start());
  afterEach(() => {
    for (const live of open) live.close();
    open = [];
  });
  afterAll(() => gateway.destroy());

  const watch = async (client: PortalClient): Promise<Live> => {
    const live = await Live.open(gateway.url, client.cookie ?? '');
    open.push(live);
    return live;
  };

  it('a stream has the sends of its account and of no other', async () => {
    const [one, two] = [await gateway.account('one'), await gateway.account('two')];
    const live = await watch(await signedIn(gateway, 'viewer', one.accountId));
    const other = await watch(await signedIn(gateway, 'viewer', two.accountId));
    expect(live.answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-request-id': expect.stringMatching(/^req-/),
    });
    await Promise.all([live, other].map((stream) => stream.told(/event: change\n/)));
    const [before, quiet] = [live.text.length, other.text];
    const body = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
    await gateway.call('POST', '/ng/v1/sendsms', { token: one.apiToken, body });
    await live.told(/event: change\ndata: \{"cursor":"[^"]+"\}\n\n/, before);
    expect(other.text).toBe(quiet);
  });

  it('a stream ends at sign-out, at the suspension of the account and at the end of the membership', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const first = await watch(member);
    await member.call('DELETE', 'session');
    await first.ended;
    expect(first.text).toContain('event: end\n');
    const second = await watch(await signedIn(gateway, 'admin', accountId));
    const operator = await signedIn(gateway, 'operator', accountId);
    const third = await watch(operator);
    await operator.ok('POST', `accounts/${accountId}/suspend`);
    await second.ended;
    expect(third.answer.readableEnded).toBe(false);
    third.close();
    const { accountId: own } = await gateway.account();
    const [admin, leaving] = [
      await signedIn(gateway, 'admin', own),
      await signedIn(gateway, 'viewer', own),
    ];
    const fourth = await watch(leaving);
    const { data } = await admin.ok<{ data: { userId: string; isSelf: boolean }[] }>(
      'GET',
      'members',
    );
    await admin.ok('DELETE', `members/${data.find(({ isSelf }) => !isSelf)?.userId}`);
    await fourth.ended;
  });

  it('HEAD of the stream answers its headers and opens no stream', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    for (let n = 0; n < 11; n++) {
      const { status, headers } = await fetch(`${gateway.url}/portal/api/live`, {
        method: 'HEAD',
        headers: { cookie: member.cookie! },
      });
      expect([status, headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
    }
    expect((await watch(member)).answer.statusCode).toBe(200);
  });

  it('a session has at most ten streams at once, and a signed-out person none', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    for (let n = 0; n < 10; n++) expect((await watch(member)).answer.statusCode).toBe(200);
    expect((await member.call('GET', 'live')).status).toBe(429);
    expect((await watch({ cookie: '' } as PortalClient)).answer.statusCode).toBe(401);
  });

  it('a closed page does not count among the streams of its session', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    for (let left = 0; left < 10; left++) (await watch(member)).close();
    // Less than the time to the next heartbeat, whose write finds lost clients too.
    await eventually(async () => {
      expect((await watch(member)).answer.statusCode).toBe(200);
    }, 10_000);
  });
});

describe('live pages of a gateway that stops', () => {
  let processes: Processes;
  beforeAll(() => buildGateway());
  beforeEach(() => void (processes = new Processes()));
  afterEach(() => processes.destroy());

  it('three open streams do not delay the end of the process on SIGTERM', async () => {
    const gateway = await processes.gateway();
    const [link] = await gateway.told(/http\S+\/portal\/setup#code=[\w-]{43}/);
    const answer = await fetch(`${gateway.url}/portal/api/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ code: codeOf(link), email: 'ada@example.com', password: PASSWORD }),
    });
    await answer.arrayBuffer();
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const streams = [];
    for (let n = 0; n < 3; n++) streams.push(await Live.open(gateway.url, cookie));
    const { code, stdout, stderr } = await gateway.stop('SIGTERM');
    await Promise.all(streams.map(({ ended }) => ended));
    for (const { text } of streams) expect(text).toContain('event: end\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('"msg":"stopped"');
    expect(stdout).not.toContain('did not stop in time');
  });

  it('a worker serves no page and no route of the portal', async () => {
    const worker = await processes.gateway({ ROLE: 'worker' });
    for (const path of ['/portal', '/portal/messages', '/portal/api/session'])
      expect([path, (await fetch(worker.url + path)).status]).toEqual([path, 404]);
    expect(worker.output).not.toContain('setup#code=');
  });
});
