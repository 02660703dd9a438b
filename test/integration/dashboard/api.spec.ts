import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { AuditEntry, DashboardAccess } from '@dundun/dashboard';
import {
  ContactsService,
  simulator,
  SmsService,
  VasService,
  VerificationService,
  VoiceService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { builtPages, DashboardApp, PLATFORMS, type Platform } from './dashboard-app.js';

const HOUR = 3_600_000;
const NUMBER = '2348010000001';
const FAILING = '2348010009901';
const TEXT = 'A secret word: mango';

const LATER = {
  channel: 'sms',
  from: 'ACME',
  to: [NUMBER],
  content: { kind: 'text', text: 'x' },
  sendAt: new Date(Date.now() + HOUR).toISOString(),
};

const READER: DashboardAccess = { tenants: 'all', act: false, reveal: false };
const ADMIN: DashboardAccess = { tenants: ['acme'], act: true, reveal: true };
const OPERATOR: DashboardAccess = { tenants: ['acme'], act: true, reveal: true, operate: true };

describeEachDatabase(
  'the dashboard API',
  (database) => {
    let dashboard: DashboardApp;
    let sms: SmsService;
    let access: DashboardAccess;
    const audited: AuditEntry[] = [];
    /** Whether the entry was part of the transaction of its change. */
    const managed: boolean[] = [];
    let isLogFull = false;
    const refused = new Set<string>();
    const ids: Record<string, string> = {};
    const message = () => `${ids['sms']}-0`;

    beforeAll(async () => {
      dashboard = await DashboardApp.start({
        database: database.options(),
        dashboard: {
          files: await builtPages(),
          access: () => access,
          audit: (entry, _request, manager) => {
            audited.push(entry);
            if (isLogFull) throw new Error('the log is full');
            managed.push(manager?.queryRunner?.isTransactionActive ?? false);
          },
          checkSend: ({ from }) => {
            if (refused.has(from ?? '')) throw new Error('this sender is refused');
          },
          environment: 'test',
        },
        messaging: {
          store: { recipientIndex: true },
          erasure: { keys: [Buffer.alloc(32, 7).toString('base64')] },
        },
      });
      sms = dashboard.app.get(SmsService, { strict: false });
      const to = [NUMBER, '2348010000002', FAILING];
      const sent = await sms.send({ from: 'ACME', to, body: TEXT }, { tenant: 'acme' });
      const other = await sms.send({ from: 'GLOBEX', to: NUMBER, body: 'x' }, { tenant: 'globex' });
      const sendAt = new Date(Date.now() + HOUR);
      const later = await sms.send(
        { from: 'ACME', to: NUMBER, body: 'y', sendAt },
        { tenant: 'acme' },
      );
      Object.assign(ids, { sms: sent.id, other: other.id, later: later.id });
      const contacts = dashboard.app.get(ContactsService, { strict: false });
      const [ada] = await contacts.upsert({ phone: NUMBER, name: 'Ada' }, { tenant: 'acme' });
      await contacts.optIn(NUMBER, {
        tenant: 'acme',
        channel: 'whatsapp',
        source: 'web form',
        evidence: 'form 7',
      });
      const [foreign] = await contacts.upsert({ phone: NUMBER, name: 'Bo' }, { tenant: 'globex' });
      Object.assign(ids, { ada: ada!.id, foreign: foreign!.id });
      await settled();
    });
    afterAll(() => dashboard.close());
    beforeEach(() => {
      access = READER;
      audited.length = 0;
      managed.length = 0;
      isLogFull = false;
    });

    const settled = () =>
      eventually(async () => {
        const { counts } = await sms.batch(ids['sms']!, { tenant: 'acme' });
        expect(counts).toEqual({ delivered: 2, undelivered: 1 });
        const other = await sms.batch(ids['other']!, { tenant: 'globex' });
        expect(other.counts).toEqual({ delivered: 1 });
      });
    const api = async (path: string) => (await dashboard.get(`/dashboard/api/${path}`)).body;
    const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
      dashboard.post(`/dashboard/api/${path}`, body, headers);
    const filled = (path: string) =>
      path.replace(
        ':id',
        path.includes('/batches')
          ? ids['sms']!
          : path.includes('contacts')
            ? ids['ada']!
            : message(),
      );

    it('every route is refused without the guard', async () => {
      const routes = dashboard.routes();
      expect(routes.length).toBeGreaterThanOrEqual(27);
      for (const { method, path } of routes) {
        const body = method === 'POST' ? {} : undefined;
        const { status } = await dashboard.call(method, filled(path), body, { 'x-key': 'wrong' });
        expect([path, status]).toEqual([path, 403]);
      }
    });

    it('a reader cannot change or reveal data, and is not audited', async () => {
      for (const { method, path } of dashboard.routes()) {
        if (method === 'GET') continue;
        const { status, body } = await dashboard.call(method, filled(path), {});
        expect([path, status, body.error.code]).toEqual([path, 403, 'forbidden']);
      }
      for (const path of [
        `messages/${message()}/html`,
        'messages/export?reveal=true',
        'contacts/export',
        `contacts/${ids['ada']}?reveal=true&tenant=acme`,
        `contacts/${ids['ada']}/conversation?reveal=true`,
        'phones',
      ])
        expect([path, (await api(path)).error.code]).toEqual([path, 'forbidden']);
      expect(audited).toEqual([]);
    });

    it('no answer to a reader has a whole address, a name or a text', async () => {
      for (const { method, path } of dashboard.routes()) {
        if (method !== 'GET') continue;
        const { text } = await dashboard.get(`${filled(path)}?tenant=acme`);
        expect(text).not.toMatch(/2348010000001|2348010009901|mango|"Ada"|form 7/);
      }
      const list = await api('messages');
      expect(list.data.map(({ recipient }: { recipient: string }) => recipient)).toEqual([
        '+234 801 ••• 0001',
        '+234 801 ••• 0001',
        '+234 801 ••• 0001',
        '+234 801 ••• 0002',
        '+234 801 ••• 9901',
      ]);
      expect((await api('contacts?tenant=acme')).data).toMatchObject([
        { name: 'A•••', addresses: [{ kind: 'phone', value: '+234 801 ••• 0001' }] },
      ]);
    });

    it('data of a tenant outside the access is unknown', async () => {
      access = ADMIN;
      for (const path of [
        `messages/${ids['other']}-0`,
        `batches/${ids['other']}`,
        `contacts/${ids['foreign']}`,
        `contacts/${ids['foreign']}/conversation`,
        'messages?tenant=globex',
        'stats?tenant=globex',
        'changes?tenant=globex',
        'contacts?tenant=globex',
        'phones?tenant=globex',
      ]) {
        const { status, body } = await dashboard.get(`/dashboard/api/${path}`);
        expect([path, status, body.error?.code]).toEqual([path, 404, 'not_found']);
      }
      for (const path of [
        `messages/${ids['other']}-0/reveal`,
        `messages/${ids['other']}-0/resend`,
        `batches/${ids['other']}/cancel`,
      ])
        expect([path, (await post(path)).status]).toEqual([path, 404]);
      const send = {
        channel: 'sms',
        to: [NUMBER],
        content: { kind: 'text', text: 'x' },
        tenant: 'globex',
      };
      expect((await post('messages', send)).status).toBe(404);
      expect(
        (await api('messages')).data.every(({ tenant }: { tenant: string }) => tenant === 'acme'),
      ).toBe(true);
      expect((await api(`messages?to=${NUMBER}`)).data).toHaveLength(2);
      expect((await api('batches')).data).toHaveLength(2);
      expect((await api(`messages?reference=${ids['other']}`)).data).toEqual([]);
    });

    it('lanes and providers are for callers that operate', async () => {
      access = ADMIN;
      for (const path of ['lanes', 'providers'])
        expect((await api(path)).error.code).toBe('forbidden');
      expect((await post('lanes/acme%3Asms/resume')).status).toBe(403);
      access = OPERATOR;
      expect((await api('providers')).data).toMatchObject([
        { name: 'simulator', simulator: true, inFlight: 0, pause: null, pausedLanes: [] },
      ]);
      expect((await api('lanes')).data).toEqual([]);
      expect((await post('lanes/acme%3Asms/resume')).status).toBe(200);
      expect((await post('lanes/none/resume')).status).toBe(404);
      expect(audited).toEqual([{ action: 'lane.resumed', tenant: null, subject: 'acme:sms' }]);
    });

    it.each([
      ['another site', {}, { 'sec-fetch-site': 'cross-site' }, 403],
      ['another origin of the site', {}, { 'sec-fetch-site': 'same-site' }, 403],
      ['a form', {}, { 'content-type': 'text/plain' }, 415],
    ])('a change from %s is refused', async (_from, body, headers, status) => {
      access = ADMIN;
      const answer = await post(`batches/${ids['later']}/cancel`, body, headers);
      expect(answer.status).toBe(status);
      expect((await sms.batch(ids['later']!, { tenant: 'acme' })).status).toBe('scheduled');
    });

    it('a search finds by number, reference, status and time, and names wrong fields', async () => {
      const idsOf = async (query: string) =>
        (await api(`messages?${query}`)).data.map(({ id }: { id: string }) => id);
      expect(await idsOf(`to=%2B234%20801%20000%209901`)).toEqual([`${ids['sms']}-2`]);
      expect(await idsOf('status=undelivered')).toEqual([`${ids['sms']}-2`]);
      expect(await idsOf(`reference=${ids['later']}`)).toEqual([`${ids['later']}-0`]);
      expect(await idsOf('until=2000-01-01')).toEqual([]);
      const { status, body } = await dashboard.get(
        '/dashboard/api/messages?limit=500&since=yesterday&until=2026-02-30T00:00:00Z',
      );
      expect(status).toBe(422);
      expect(body.error.fields.map(({ path }: { path: string }) => path)).toEqual([
        'since',
        'limit',
      ]);
      expect((await api('messages?to=12')).error.fields).toMatchObject([{ path: 'to' }]);
      expect((await api('messages?status=lost')).error.fields).toMatchObject([{ path: 'status' }]);
      expect((await api('messages?cursor=x')).error.fields).toMatchObject([{ path: 'cursor' }]);
    });

    it('a search without reveal finds digits that are shown, and no subject', async () => {
      const found = async (query: string) => {
        const list = await api(`messages?${query}`);
        const total = await api(`messages/total?${query}`);
        expect(total.messages).toBe(list.data.length);
        const rows = (await dashboard.get(`/dashboard/api/messages/export?${query}`)).headers;
        expect(rows.get('x-rows')).toBe(String(list.data.length));
        return list.data.length;
      };
      // The number is shown as +234 801 ••• 9901.
      for (const part of ['9901', '990', '2348019901', '0009901', '0099', '010009901'])
        expect([part, await found(`toPart=${part}`)]).toEqual([
          part,
          part.startsWith('99') ? 1 : 0,
        ]);
      expect(await found('toPart=234801')).toBe(5);
      for (const path of ['messages', 'messages/total', 'messages/export']) {
        const { status, body } = await dashboard.get(`/dashboard/api/${path}?subject=order`);
        expect([path, status, body.error.code]).toEqual([path, 403, 'forbidden']);
      }
      access = ADMIN;
      expect(await found('toPart=0009901')).toBe(1);
      expect(await found('subject=order')).toBe(0);
    });

    it('the timeline of a failed message says in words what happened and what to do', async () => {
      const { timeline, ...detail } = await api(`messages/${ids['sms']}-2`);
      expect(detail).toMatchObject({
        status: 'undelivered',
        errorCode: 'absent_subscriber',
        reason: 'The phone was switched off or out of reach',
        provider: 'simulator',
        content: { kind: 'text', characters: TEXT.length },
        canResend: false,
      });
      // The report may arrive before the answer to the request.
      const told = timeline.toSorted(
        (one: { kind: string }, other: { kind: string }) =>
          Number(one.kind === 'report') - Number(other.kind === 'report'),
      );
      expect(told).toMatchObject([
        { kind: 'accepted', title: 'Accepted' },
        { kind: 'attempt', title: 'Request to simulator', detail: 'Attempt 1' },
        { kind: 'outcome', status: 'sent', title: 'Accepted by the provider' },
        {
          kind: 'report',
          status: 'undelivered',
          title: 'Not delivered',
          detail: 'The phone was switched off or out of reach',
          remedy: 'Send again later',
          code: 'absent_subscriber',
        },
      ]);
      const later = await api(`messages/${ids['later']}-0`);
      expect(later.timeline).toMatchObject([
        { kind: 'accepted' },
        { kind: 'scheduled', detail: later.sendAt },
        { kind: 'waiting', title: 'Waits for its time', detail: later.sendAt },
      ]);
    });

    it('a rejected message shows its one attempt', async () => {
      const to = '2348010009903';
      const { id } = await sms.send({ from: 'ACME', to, body: 'x' }, { tenant: 'acme' });
      await eventually(async () => {
        expect(await api(`messages/${id}-0`)).toMatchObject({
          status: 'rejected',
          reason: 'The network refuses this number',
          attempts: 1,
        });
      });
      const { timeline } = await api(`messages/${id}-0`);
      expect(timeline[1]).toMatchObject({ kind: 'attempt', detail: 'Attempt 1' });
    });

    it('a reveal has the whole address, and is audited before the answer', async () => {
      access = ADMIN;
      const { body } = await post(`messages/${message()}/reveal`);
      const content = { kind: 'text', text: TEXT };
      expect(body).toEqual({ recipient: NUMBER, content, facts: [] });
      expect(audited).toEqual([{ action: 'message.revealed', tenant: 'acme', subject: message() }]);
      const contact = await api(`contacts/${ids['ada']}?reveal=true`);
      expect(contact).toMatchObject({ name: 'Ada', addresses: [{ value: NUMBER }] });
      expect(contact.history).toMatchObject([
        { state: 'opted_in', source: 'web form', evidence: 'form 7' },
      ]);
      const { text } = await dashboard.get('/dashboard/api/messages/export?reveal=true');
      expect(text).toContain(`${message()},acme,sms,${NUMBER},ACME,delivered,,simulator,`);
      const csv = await dashboard.get('/dashboard/api/contacts/export');
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(csv.text).toContain('Ada');
      expect(audited.map(({ action }) => action)).toEqual([
        'message.revealed',
        'contact.revealed',
        'messages.exported',
        'contacts.exported',
      ]);
    });

    it('a whole export is audited for each tenant whose messages it has, a masked one is not', async () => {
      const exported = async (tenants: DashboardAccess['tenants'], query = '') => {
        access = { tenants, act: true, reveal: true };
        audited.length = 0;
        const { text } = await dashboard.get(`/dashboard/api/messages/export?${query}`);
        return { text, tenants: new Set(audited.map(({ tenant }) => tenant)) };
      };
      for (const tenants of [['acme', 'globex'], 'all'] as const) {
        const whole = await exported(tenants, 'reveal=true');
        expect(whole.text).toContain(NUMBER);
        expect(whole.tenants).toEqual(new Set(['acme', 'globex']));
        expect(audited).toHaveLength(2);
      }
      const one = await exported(['acme', 'globex'], 'reveal=true&tenant=globex');
      expect(one.tenants).toEqual(new Set(['globex']));
      const masked = await exported(['acme', 'globex']);
      expect(masked.tenants).toEqual(new Set());
      expect(masked.text).toContain('+234 801 ••• 0001');
      expect(masked.text).not.toContain(NUMBER);
      isLogFull = true;
      expect((await exported('all', 'reveal=true')).text).not.toContain(NUMBER);
    });

    it('a batch shows its progress, and can be rescheduled and cancelled', async () => {
      access = ADMIN;
      expect(await api(`batches/${ids['sms']}`)).toMatchObject({
        status: 'completed',
        recipients: 3,
        done: 3,
        counts: { delivered: 2, undelivered: 1 },
        canCancel: false,
        canReschedule: false,
      });
      expect(await api(`batches/${ids['later']}`)).toMatchObject({
        status: 'scheduled',
        done: 0,
        canCancel: true,
        canReschedule: true,
      });
      const sendAt = new Date(Date.now() + 2 * HOUR).toISOString();
      expect((await post(`batches/${ids['later']}/reschedule`, { sendAt })).body).toMatchObject({
        sendAt,
      });
      expect(
        (await post(`batches/${ids['later']}/reschedule`, {})).body.error.fields,
      ).toMatchObject([{ path: 'sendAt' }]);
      expect((await post(`batches/${ids['sms']}/cancel`)).status).toBe(409);
      expect((await post(`batches/${ids['later']}/cancel`)).body).toMatchObject({
        status: 'cancelled',
        counts: { cancelled: 1 },
      });
      expect(audited.map(({ action }) => action)).toEqual(['batch.rescheduled', 'batch.cancelled']);
    });

    it('the failed messages of a batch are sent again once, in pieces, each with its audit entry', async () => {
      const own = { ...ADMIN, tenants: ['bulk'] };
      access = own;
      const failing = Array.from({ length: 101 }, (_, n) => `23480${21_000 + n}9901`);
      const batch = await sms.send({ from: 'ACME', to: failing, body: TEXT }, { tenant: 'bulk' });
      await eventually(async () => {
        const { counts } = await sms.batch(batch.id, { tenant: 'bulk' });
        expect(counts).toEqual({ undelivered: 101 });
      });
      const again = async (body: object) =>
        (await post(`batches/${batch.id}/resend`, { status: 'undelivered', ...body })).body;
      const first = await again({});
      expect(first).toMatchObject({ resent: 100, repeated: 0, refused: [] });
      expect(await again({ cursor: first.nextCursor })).toMatchObject({ resent: 1, repeated: 0 });
      expect(await again({})).toMatchObject({ resent: 0, repeated: 100, refused: [] });
      expect(audited).toHaveLength(101);
      expect(new Set(audited.map(({ action, tenant }) => `${action} ${tenant}`))).toEqual(
        new Set(['message.resent bulk']),
      );
      expect(managed).not.toContain(false);
      const wrong = await post(`batches/${batch.id}/resend`, { status: 'delivered' });
      expect([wrong.status, wrong.body.error.fields]).toMatchObject([422, [{ path: 'status' }]]);
      access = { ...own, act: false };
      expect((await post(`batches/${batch.id}/resend`, { status: 'undelivered' })).status).toBe(
        403,
      );
      access = { ...ADMIN, tenants: ['globex'] };
      expect((await post(`batches/${batch.id}/resend`, { status: 'undelivered' })).status).toBe(
        404,
      );
      access = own;
      refused.add('ACME');
      expect((await post(`batches/${batch.id}/resend`, { status: 'undelivered' })).status).toBe(
        500,
      );
      refused.clear();
    });

    it('the list of batches is exported in pieces, without an address', async () => {
      const read = async (query: string) => {
        const answer = await dashboard.get(`/dashboard/api/batches/export?${query}`);
        return { text: answer.text, next: answer.headers.get('x-next-cursor') };
      };
      const whole = await read('tenant=acme');
      const [header, ...lines] = whole.text.trimEnd().split('\r\n');
      expect(header).toBe(
        'id,tenant,channel,sender,status,created_at,send_at,tags,recipients,done,delivered,failed',
      );
      expect(lines.find((line) => line.startsWith(ids['sms']!))).toMatch(
        /^[^,]+,acme,sms,ACME,completed,[^,]+,,,3,3,2,1$/,
      );
      expect(whole.text).not.toContain(NUMBER);
      const pieces: string[] = [];
      let next: string | null = '';
      while (next !== null) {
        const piece = await read(`tenant=acme&limit=2${next && `&cursor=${next}`}`);
        pieces.push(...piece.text.trimEnd().split('\r\n').slice(1));
        ({ next } = piece);
      }
      expect(pieces).toEqual(lines);
    });

    it('counts, funnel and times follow the messages', async () => {
      const stats = await api('stats?tenant=acme&interval=day');
      expect(stats.funnel).toMatchObject({
        accepted: 5,
        sent: 3,
        delivered: 2,
        read: 0,
        failed: 2,
      });
      expect(stats.latency).toMatchObject({
        messages: 4,
        toDelivered: { p50: expect.any(Number) },
      });
      expect((await api('stats?since=2020-01-01&interval=hour')).error.fields).toMatchObject([
        { path: 'since' },
      ]);
    });

    it('cached counts say when newer counts can be read', async () => {
      const path = 'stats?tenant=acme&until=2150-01-01T00:00:00Z&since=2149-12-31T00:00:00Z';
      expect((await api(path)).readAgainIn).toBeNull();
      expect((await api(path)).readAgainIn).toBeGreaterThan(0);
    });

    it('a cancelled message is neither failed nor on the way, and an ended call is delivered', async () => {
      const tenant = 'counted';
      access = { ...OPERATOR, tenants: [tenant] };
      const voice = dashboard.app.get(VoiceService, { strict: false });
      const calls = ['2348010000001', '2348010009901'];
      const { id } = await voice.send({ from: '2348000000001', to: calls, text: 'x' }, { tenant });
      await eventually(async () =>
        expect((await voice.batch(id, { tenant })).counts).toEqual({ completed: 1, busy: 1 }),
      );
      const sendAt = new Date(Date.now() + HOUR);
      const to = [NUMBER, '2348010000002', '2348010000003'];
      const later = await sms.send({ from: 'ACME', to, body: 'x', sendAt }, { tenant });
      await sms.cancel(later.id, { tenant });
      const { series, funnel } = await api('stats?interval=day');
      expect(series.filter(({ accepted }: { accepted: number }) => accepted > 0)).toMatchObject([
        { accepted: 5, delivered: 1, failed: 1, cancelled: 3 },
      ]);
      expect(funnel).toMatchObject({ accepted: 5, delivered: 1, failed: 1 });
      const { channels, failures } = await api('stats?interval=day');
      expect(channels).toMatchObject([
        { channel: 'sms', accepted: 3, sent: 0, cancelled: 3 },
        { channel: 'voice', accepted: 2, sent: 2, delivered: 1, failed: 1 },
      ]);
      expect(failures).toMatchObject([{ channel: 'voice', status: 'busy', messages: 1 }]);
      for (const { channel, ...figures } of channels) {
        const own = await api(`stats?interval=day&channel=${channel}`);
        expect(own.funnel).toEqual(figures);
        expect(own.latency === null).toBe(figures.sent === 0);
      }
    });

    it('a reversed order counts as failed, and an order without an outcome as unknown', async () => {
      const tenant = 'orders';
      access = { ...OPERATOR, tenants: [tenant] };
      const vas = dashboard.app.get(VasService, { strict: false });
      await vas.allow({ currency: 'NGN', daily: '1000', perNumber: '1000' }, { tenant });
      const expected = ['reversed', 'unknown', 'delivered'];
      const ids: string[] = [];
      for (const [n, to] of ['2348010009902', '2348010009909', '2348010000001'].entries()) {
        const order = { to, product: 'airtime-ng', amount: '100', clientReference: `o-${n}` };
        ids.push((await vas.order(order, { tenant })).id);
      }
      await eventually(async () => {
        const found = await Promise.all(ids.map((id) => vas.find(id, { tenant })));
        expect(found.map(({ status }) => status)).toEqual(expected);
      });
      const { series, funnel } = await api('stats?interval=day');
      expect(series.filter(({ accepted }: { accepted: number }) => accepted > 0)).toMatchObject([
        { accepted: 3, delivered: 1, failed: 1, cancelled: 0, unknown: 1, onTheWay: 0 },
      ]);
      expect(funnel).toMatchObject({ accepted: 3, sent: 2, delivered: 1, failed: 1, unknown: 1 });
    });

    it('a change and its audit entry are one transaction', async () => {
      access = OPERATOR;
      const sendAt = new Date(Date.now() + HOUR).toISOString();
      const later = new Date(Date.now() + 2 * HOUR).toISOString();
      const content = { kind: 'text', text: 'z' };
      const request = { channel: 'sms', from: 'ACME', to: [NUMBER], content, sendAt };
      const { batchId } = (await post('messages', request)).body;
      const before = await api('batches');
      isLogFull = true;
      const changes: [string, object][] = [
        ['messages', request],
        [`messages/${message()}/resend`, {}],
        [`batches/${batchId}/reschedule`, { sendAt: later }],
        [`batches/${batchId}/cancel`, {}],
        ['lanes/acme:sms/resume', {}],
      ];
      for (const [path, body] of changes) expect((await post(path, body)).status).toBe(500);
      expect(await api('batches')).toEqual(before);
      isLogFull = false;
      for (const [path, body] of changes.slice(2))
        expect((await post(path, body)).status).toBe(200);
      expect(managed).toEqual([true, true, true, true]);
    });

    it('a read of changes has a send and its report', async () => {
      access = ADMIN;
      // Reports of the messages that earlier cases sent may still arrive.
      let cursor: string;
      await eventually(async () => {
        ({ cursor } = await api('changes'));
        expect(await api(`changes?since=${cursor}`)).toMatchObject({ changed: false });
      });
      const send = {
        channel: 'sms',
        from: 'ACME',
        to: [NUMBER],
        content: { kind: 'text', text: 'x' },
      };
      const { status, body } = await post('messages', send);
      expect([status, body.recipients]).toEqual([201, 1]);
      await eventually(async () => {
        expect(await api(`changes?since=${cursor}`)).toMatchObject({
          changed: true,
          batches: expect.arrayContaining([body.batchId]),
          messages: expect.arrayContaining([`${body.batchId}-0`]),
        });
      });
      expect(audited).toEqual([{ action: 'message.sent', tenant: 'acme', subject: body.batchId }]);
    });

    it('pages at the same change share a list only with pages of the same rights', async () => {
      access = ADMIN;
      const list = async (after = '') => {
        const path = '/dashboard/api/batches?limit=200';
        const { body } = await dashboard.get(path, { 'x-after': after });
        return body.data.length as number;
      };
      const before = await list('one');
      const content = { kind: 'text', text: 'x' };
      await post('messages', { channel: 'sms', from: 'ACME', to: [NUMBER], content });
      expect([await list('one'), await list('two'), await list()]).toEqual([
        before,
        before + 1,
        before + 1,
      ]);
      access = READER;
      expect(await list('one')).toBeGreaterThan(before + 1);
    });

    it('an estimate counts duplicates, wrong addresses, refusals and parts, and sends nothing', async () => {
      access = ADMIN;
      const contacts = dashboard.app.get(ContactsService, { strict: false });
      await contacts.optOut('2348010000055', { tenant: 'acme', channel: 'sms', source: 'test' });
      const before = (await api('batches?limit=1')).data[0].id;
      const request = {
        channel: 'sms',
        from: 'ACME',
        to: [NUMBER, '+234 801 000 0001', '2348010000055', 'nonsense'],
        content: { kind: 'text', text: 'x'.repeat(200) },
      };
      const { status, body } = await post('messages/estimate', request);
      expect(status).toBe(200);
      expect(body).toEqual({
        given: 4,
        duplicates: 1,
        invalid: [{ path: 'to[3]', message: expect.stringContaining('7 to 15 digits') }],
        recipients: 2,
        denied: [{ reason: 'opted_out', title: 'The recipient opted out', recipients: 1 }],
        allowed: 1,
        parts: 2,
        unitCost: null,
        totalCost: null,
        currency: null,
      });
      expect((await api('batches?limit=1')).data[0].id).toBe(before);
    });

    it('a text is split into the parts of an SMS, with the characters that cost more', async () => {
      access = ADMIN;
      const split = async (text: string) => (await post('messages/text', { text })).body;
      expect(await split(`${'x'.repeat(159)}€`)).toEqual({
        encoding: 'GSM-7',
        units: 161,
        left: 145,
        ends: [153, 160],
        ucs2: [],
        doubled: ['€'],
      });
      expect(await split('Naïve')).toEqual({
        encoding: 'UCS-2',
        units: 5,
        left: 65,
        ends: [5],
        ucs2: ['ï'],
        doubled: [],
      });
      expect(await split('')).toMatchObject({ ends: [0], left: 160 });
      const long = await post('messages/text', { text: 'x'.repeat(10_001) });
      expect(long).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'text' }] } } });
      access = READER;
      expect((await post('messages/text', { text: 'x' })).status).toBe(403);
    });

    it('an estimate counts the members of groups, each address once', async () => {
      access = ADMIN;
      const { groups } = dashboard.app.get(ContactsService, { strict: false });
      const tenant = 'acme';
      const [one, other] = [
        await groups.create('one', { tenant }),
        await groups.create('other', { tenant }),
      ];
      await groups.add(one.id, [NUMBER, '2348010000021', '2348010000022'], { tenant });
      await groups.add(other.id, ['2348010000022', '2348010000023'], { tenant });
      const request = {
        channel: 'sms',
        from: 'ACME',
        to: [NUMBER, one.id, other.id],
        content: { kind: 'text', text: 'x' },
      };
      const { body } = await post('messages/estimate', request);
      expect(body).toMatchObject({ given: 3, duplicates: 2, recipients: 4, allowed: 4 });
      const unknown = `grp_${'0'.repeat(22)}`;
      const wrong = await post('messages/estimate', { ...request, to: [NUMBER, unknown] });
      expect(wrong.status).toBe(422);
      expect(wrong.body.error.fields).toMatchObject([{ path: 'to[1]' }]);
    });

    it.each([
      ['a channel that is unknown', { channel: 'fax' }, 'channel'],
      ['recipients that are no list', { to: NUMBER }, 'to'],
      ['a content without a kind', { content: { text: 'x' } }, 'content.kind'],
      ['a wrong time', { sendAt: 'soon' }, 'sendAt'],
    ])('a send with %s is refused by name', async (_wrong, wrong, path) => {
      access = ADMIN;
      const send = { channel: 'sms', to: [NUMBER], content: { kind: 'text', text: 'x' }, ...wrong };
      const { status, body } = await post('messages', send);
      expect([status, body.error.code]).toEqual([422, 'invalid_field']);
      expect(body.error.fields).toMatchObject([{ path }]);
    });

    it('a refusal by checkSend of the app holds for sends, estimates and repetitions', async () => {
      access = ADMIN;
      refused.add('ACME');
      const send = {
        channel: 'sms',
        from: 'ACME',
        to: [NUMBER],
        content: { kind: 'text', text: 'x' },
      };
      try {
        for (const path of ['messages', 'messages/estimate', `messages/${message()}/resend`])
          expect([path, (await post(path, send)).status]).toEqual([path, 500]);
      } finally {
        refused.clear();
      }
      expect(audited).toEqual([]);
    });

    it('a failed message is repeated as a new send', async () => {
      access = ADMIN;
      const { status, body } = await post(`messages/${ids['sms']}-2/resend`);
      expect(status).toBe(201);
      const history = dashboard.app.get(MessageHistory, { strict: false });
      expect(await history.message(`${body.batchId}-0`)).toMatchObject({
        tenant: 'acme',
        recipient: FAILING,
        sender: 'ACME',
        content: { kind: 'text', text: TEXT },
      });
    });

    it('a repeated request sends a message again once, and its estimate has the price', async () => {
      access = ADMIN;
      const path = `messages/${ids['sms']}-2/resend`;
      expect(await api(path)).toMatchObject({ recipients: 1, allowed: 1, denied: [], parts: 1 });
      const key = { idempotencyKey: 'page-1' };
      const first = (await post(path, key)).body;
      expect(first).toMatchObject({ recipients: 1, replayed: false });
      expect((await post(path, key)).body).toEqual({ ...first, replayed: true });
      const other = await post(`messages/${message()}/resend`, key);
      expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused']);
    });

    it('a message that may still leave is neither offered nor sent again', async () => {
      access = ADMIN;
      const id = `${(await post('messages', LATER)).body.batchId}-0`;
      // Reports of other messages still come.
      const batches = async () => {
        const { data } = (await api('batches')) as { data: { id: string }[] };
        return data.map((one) => one.id);
      };
      const before = await batches();
      expect(await api(`messages/${id}`)).toMatchObject({ status: 'queued', canResend: false });
      for (const refused of [
        await dashboard.get(`/dashboard/api/messages/${id}/resend`),
        await post(`messages/${id}/resend`),
      ])
        expect([refused.status, refused.body.error]).toEqual([
          422,
          {
            code: 'wrong_status',
            message: `Message ${id} is queued; it may still leave: wait for its end`,
          },
        ]);
      expect(await batches()).toEqual(before);
      expect(await api(`messages/${message()}`)).toMatchObject({ canResend: true });
    });

    it('a message that is unknown is settled by a caller that operates, by name', async () => {
      access = ADMIN;
      const id = `${(await post(`messages/${message()}/resend`)).body.batchId}-0`;
      await eventually(async () =>
        expect(await api(`messages/${id}`)).toMatchObject({ status: 'delivered' }),
      );
      const settle = (status: string) =>
        post(`messages/${id}/settle`, { status, note: 'in the list' });
      expect((await settle('delivered')).body.error.code).toBe('forbidden');
      access = { ...OPERATOR, by: 'ada@example.com' };
      expect((await settle('delivered')).body.error.code).toBe('wrong_status');
      await dashboard.app
        .get(DataSource, { strict: false })
        .query(`UPDATE messaging_message SET status = 30 WHERE batch = '${id.slice(0, 36)}'`);
      expect(await api(`messages/${id}`)).toMatchObject({ status: 'unknown', canSettle: true });
      expect((await settle('queued')).body.error.fields).toMatchObject([{ path: 'status' }]);
      audited.length = 0;
      expect((await settle('failed')).body).toEqual({ status: 'failed' });
      expect(audited).toEqual([{ action: 'message.settled', tenant: 'acme', subject: id }]);
      expect(await api(`messages/${id}`)).toMatchObject({
        errorCode: 'settled_by_operator',
        canSettle: false,
        canResend: true,
      });
      const history = dashboard.app.get(MessageHistory, { strict: false });
      const { reports } = await history.message(id);
      expect(JSON.stringify(reports.at(-1))).toContain('ada@example.com');
    });

    it('an imported contact is found, and a bad row is named by its line', async () => {
      access = ADMIN;
      const csv = 'phone,name\n2348010000088,Chi\nnonsense,No\n';
      const { body } = await post('contacts/import', { csv });
      expect(body).toMatchObject({ imported: 1, errors: [{ line: 3, path: 'phone' }] });
      expect((await api('contacts?q=2348010000088')).data).toMatchObject([{ name: 'C•••' }]);
      expect((await api('contacts?q=chi')).error.fields).toMatchObject([{ path: 'q' }]);
    });

    describe('the simulated phones', () => {
      const whatsApp = '2348000000001';

      it('a reply goes the way of inbound messages: it opens the window and shows in the conversation', async () => {
        access = ADMIN;
        const reply = { channel: 'whatsapp', from: NUMBER, to: whatsApp, text: 'Is it ready?' };
        expect((await post('phones/reply', reply)).status).toBe(202);
        const detail = await api(`contacts/${ids['ada']}`);
        expect(detail.windows).toMatchObject([{ sender: whatsApp }]);
        const [window] = detail.windows;
        expect(Date.parse(window.windowEndsAt) - Date.parse(window.lastInboundAt)).toBe(24 * HOUR);
        const answer = {
          channel: 'whatsapp',
          from: whatsApp,
          to: [NUMBER],
          content: { kind: 'text', text: 'Yes' },
        };
        expect((await post('messages', answer)).status).toBe(201);
        await eventually(async () => {
          const { phones } = await api('phones');
          const phone = phones.find(({ channel }: { channel: string }) => channel === 'whatsapp');
          expect(phone).toMatchObject({ number: NUMBER, windowEndsAt: expect.any(String) });
          expect(phone.messages).toMatchObject([
            { direction: 'out', text: 'Is it ready?', sender: whatsApp },
            { direction: 'in', text: 'Yes', status: 'read' },
          ]);
        });
        const masked = await api(`contacts/${ids['ada']}/conversation`);
        expect(masked.data.at(-1)).toMatchObject({
          direction: 'out',
          text: null,
          content: { characters: 3 },
        });
        const whole = await api(`contacts/${ids['ada']}/conversation?reveal=true`);
        expect(whole.data.slice(-2)).toMatchObject([
          { direction: 'in', text: 'Is it ready?' },
          { direction: 'out', text: 'Yes' },
        ]);
        expect(audited.map(({ action }) => action)).toEqual([
          'phone.replied',
          'message.sent',
          'contact.revealed',
        ]);
      });

      it('what a person sends is shown beside the text, and a file is fetched by who may reveal', async () => {
        const bytes = 'the bytes of a file';
        const source = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
        const type = 'image' as const;
        const files = [source, 'no longer there'].map((at) => {
          return { type, contentType: 'image/png', filename: 'plan.png', size: null, source: at };
        });
        const base = { channel: 'whatsapp', from: NUMBER, bsuid: null, to: whatsApp, sentAt: null };
        const recorder = dashboard.app.get(InboundRecorder, { strict: false });
        const photoed = {
          messageId: 'photo',
          text: 'My plan',
          content: { kind: 'media', caption: 'My plan', files },
          profileName: 'Ada Obi',
          repliesTo: 'wamid.0',
        } as const;
        const place = { name: 'Shop', address: null, url: null };
        const located = {
          messageId: 'place',
          text: null,
          content: { kind: 'location', latitude: 6.45, longitude: 3.39, ...place },
        } as const;
        for (const one of [photoed, located]) {
          const from = { transport: 'simulator' };
          await recorder.record([{ ...base, ...one, tenant: 'acme' }], from);
          // The cursor of a conversation is a time.
          await setTimeout(5);
        }
        access = ADMIN;
        const path = `contacts/${ids['ada']}`;
        const file = { type, contentType: 'image/png', size: null };
        const masked = await api(`${path}/conversation`);
        expect(masked.data.slice(-2)).toMatchObject([
          {
            text: null,
            content: { kind: 'media', characters: 7 },
            received: {
              profileName: 'A•••',
              isReply: true,
              detail: null,
              files: [
                { ...file, filename: null },
                { ...file, filename: null },
              ],
            },
          },
          { text: null, content: { kind: 'location' }, received: { detail: null, files: [] } },
        ]);
        expect(JSON.stringify(masked)).not.toMatch(/plan|Obi|Shop|(?<!\d)6\.45|base64/);
        const whole = (await api(`${path}/conversation?reveal=true`)).data.slice(-2);
        expect(whole).toMatchObject([
          {
            text: 'My plan',
            received: { profileName: 'Ada Obi', files: [{ filename: 'plan.png' }, {}] },
          },
          { text: null, received: { detail: 'Shop, 6.45, 3.39' } },
        ]);
        expect(JSON.stringify(whole)).not.toContain('base64');
        audited.length = 0;
        const of = (message: string, n = 0, contact = path) =>
          dashboard.get(`/dashboard/api/${contact}/media?message=${message}&file=${n}`);
        const photo = whole[0].id;
        const { status, headers, text } = await of(photo);
        expect([status, text]).toEqual([200, bytes]);
        expect(headers.get('content-type')).toBe('image/png');
        expect(headers.get('content-disposition')).toContain('attachment; filename="plan.png"');
        expect(audited).toEqual([
          { action: 'contact.file_downloaded', tenant: 'acme', subject: photo },
        ]);
        const refused = async (asked: ReturnType<typeof of>) => {
          const answer = await asked;
          return [answer.status, answer.body.error.code];
        };
        expect(await refused(of(photo, 1))).toEqual([410, 'media_expired']);
        expect(await refused(of(photo, 2))).toEqual([404, 'not_found']);
        expect(await refused(of(whole[1].id))).toEqual([404, 'not_found']);
        expect(await refused(of(ids['sms']!))).toEqual([404, 'not_found']);
        expect(await refused(of(photo, 0, `contacts/${ids['foreign']}`))).toEqual([
          404,
          'not_found',
        ]);
        isLogFull = true;
        expect((await of(photo)).status).toBe(500);
        isLogFull = false;
        access = { ...ADMIN, reveal: false };
        expect(await refused(of(photo))).toEqual([403, 'forbidden']);
      });

      it('pages of a conversation go back in time without a gap', async () => {
        access = ADMIN;
        const all = (await api(`contacts/${ids['ada']}/conversation`)).data;
        const paged: unknown[] = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page = await api(
            `contacts/${ids['ada']}/conversation?limit=1${cursor ? `&cursor=${cursor}` : ''}`,
          );
          paged.unshift(...page.data);
          cursor = page.nextCursor;
        }
        expect(paged).toEqual(all);
      });

      it('STOP from a phone opts its owner out', async () => {
        access = ADMIN;
        await post('phones/reply', {
          channel: 'sms',
          from: '2348010000066',
          to: 'ACME',
          text: 'STOP',
        });
        const send = {
          channel: 'sms',
          from: 'ACME',
          to: ['2348010000066'],
          content: { kind: 'text', text: 'x' },
        };
        const { status, body } = await post('messages', send);
        expect([status, body.error.code]).toEqual([422, 'opted_out']);
      });

      it('a chosen status becomes a report, and an unknown status is refused by name', async () => {
        access = ADMIN;
        const { body } = await post('phones/report', { messageId: message(), status: 'read' });
        expect(body).toEqual({});
        expect((await api(`messages/${message()}`)).status).toBe('read');
        const wrong = await post('phones/report', { messageId: message(), status: 'eaten' });
        expect(wrong.body.error.fields).toMatchObject([{ path: 'status' }]);
        const foreign = { messageId: `${ids['other']}-0`, status: 'read' };
        expect((await post('phones/report', foreign)).status).toBe(404);
        expect(audited.map(({ action }) => action)).toEqual(['phone.reported']);
      });

      it('a call, an order and a code are shown on the phone, and unmasked nowhere else', async () => {
        access = ADMIN;
        const tenant = 'acme';
        const voice = dashboard.app.get(VoiceService, { strict: false });
        const vas = dashboard.app.get(VasService, { strict: false });
        const verification = dashboard.app.get(VerificationService, { strict: false });
        const [caller, pressing] = ['2348000000001', '2348010009912'];
        const called = await voice.send(
          { from: caller, to: pressing, text: 'Press one', collect: { maxDigits: 1 } },
          { tenant },
        );
        await vas.allow({ currency: 'NGN', daily: '1000', perNumber: '1000' }, { tenant });
        const order = { product: 'airtime-ng', amount: '100', clientReference: 'shop-1' };
        const ordered = await vas.order({ ...order, to: '2348010000031' }, { tenant });
        const code = { to: '2348010000032', channel: 'sms', from: 'ACME' };
        const { id } = await verification.start(code, { tenant });
        const mail = { to: 'bo@demo.test', channel: 'email', from: 'codes@demo.test' };
        await verification.start(mail, { tenant });
        type Phone = { number: string; messages: { id: string; text: string }[] };
        let sent = '';
        let codeId = '';
        await eventually(async () => {
          const { phones, inbox } = await api('phones');
          const phoneOf = (number: string) =>
            phones.find((phone: Phone) => phone.number === number);
          expect(phoneOf(pressing)).toMatchObject({
            canReply: false,
            messages: [
              {
                kind: 'call',
                sender: caller,
                text: 'Press one',
                note: 'answered, 7 s, pressed 1',
                status: 'completed',
              },
            ],
          });
          expect(phoneOf('2348010000031')).toMatchObject({
            channel: 'vas',
            canReply: false,
            messages: [{ kind: 'order', text: 'airtime-ng, 100 NGN', status: 'delivered' }],
          });
          expect(inbox).toMatchObject([
            { to: 'bo@demo.test', text: expect.stringMatching(/^\d{6} is your code/) },
          ]);
          const [message] = phoneOf('2348010000032').messages;
          sent = message.text;
          codeId = message.id;
        });
        const digits = /^(\d{6}) is your code/.exec(sent)?.[1] ?? '';
        expect(digits).not.toBe('');
        const seen = [
          await dashboard.get(`/dashboard/api/messages/${codeId}`),
          await dashboard.post(`/dashboard/api/messages/${codeId}/reveal`),
          await dashboard.get('/dashboard/api/messages'),
          await dashboard.get('/dashboard/api/messages/export?reveal=true'),
        ];
        expect(seen.map(({ status, text }) => [status, text.includes(digits)])).toEqual(
          seen.map(({ status }) => [status < 300 ? status : 'refused', false]),
        );
        expect(seen[0]?.body).toMatchObject({
          code: 'pending',
          content: null,
          canResend: false,
          verification: { id, expiresAt: expect.any(String) },
        });
        await verification.check(id, digits, { tenant });
        expect((await api(`messages/${codeId}`)).code).toBe('verified');
        const titles = ({ facts }: { facts: { title: string; value: string }[] }) =>
          Object.fromEntries(facts.map(({ title, value }) => [title, value]));
        const call = await api(`messages/${called.id}-0`);
        expect(titles(call)).toMatchObject({ Duration: '7 s', 'Pressed digits': '•' });
        const revealed = await post(`messages/${called.id}-0/reveal`);
        expect(titles(revealed.body)).toMatchObject({ 'Pressed digits': '1' });
        const detail = await api(`messages/${ordered.id}-0`);
        expect(titles(detail)).toMatchObject({
          'Client reference': 'shop-1',
          Amount: '100 NGN',
          Arrived: '100',
        });
        expect(detail).toMatchObject({
          cost: expect.any(String),
          currency: 'NGN',
          canResend: false,
          content: { product: 'airtime-ng, 100 NGN' },
        });
      });

      it('an e-mail is in the inbox, and its html is shown in a sandboxed page', async () => {
        access = ADMIN;
        const send = {
          channel: 'email',
          from: 'shop@demo.test',
          to: ['ada@demo.test'],
          content: { kind: 'email', subject: 'Hi', text: 'Hello', html: '<p>Hello</p>' },
        };
        const { status, body } = await post('messages', send);
        expect([status, body]).toMatchObject([201, { recipients: 1 }]);
        const id = `${body.batchId}-0`;
        await eventually(async () => {
          const { inbox } = await api('phones');
          expect(inbox.filter((email: { id: string }) => email.id === id)).toMatchObject([
            { to: 'ada@demo.test', subject: 'Hi', text: 'Hello', hasHtml: true },
          ]);
        });
        const page = await dashboard.get(`/dashboard/api/phones/${id}/html`);
        expect(page.text).toBe('<p>Hello</p>');
        expect(page.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
        expect(page.headers.get('x-frame-options')).toBeNull();
        expect((await api(`messages?reference=${id}`)).data).toMatchObject([
          { recipient: 'a•••@demo.test' },
        ]);
      });
    });
  },
  ['sqlite', 'postgres'],
);

describeEachDatabase(
  'the dashboard API without a simulator',
  (database) => {
    it.each(Object.keys(PLATFORMS) as Platform[])(
      'a dashboard without a simulator has no phones on %s',
      async (platform) => {
        const dashboard = await DashboardApp.start({
          database: database.options(),
          platform,
          dashboard: { files: await builtPages(), access: () => ADMIN },
          messaging: {
            transport: () => ({
              name: 'paper',
              capabilities: { maxRecipients: 1, idempotencyWindow: 0 },
              submit: async () => ({ reference: 'x' }),
            }),
          },
        });
        expect((await dashboard.get('/dashboard/api/context')).body).toMatchObject({
          simulator: false,
        });
        expect((await dashboard.get('/dashboard/api/phones')).status).toBe(404);
        expect((await dashboard.post('/dashboard/api/phones/reply', {})).status).toBe(404);
        await dashboard.close();
      },
    );
  },
  ['sqlite'],
);

describeEachDatabase(
  'the phones of a simulator beside another provider',
  (database) => {
    const SENDER: DashboardAccess = { tenants: ['acme'], act: true, reveal: false };
    const whatsApp = '2348000000001';
    let dashboard: DashboardApp;
    const post = (path: string, body: unknown) => dashboard.post(`/dashboard/api/${path}`, body);
    const reply = (channel: string, from: string, to: string) =>
      post('phones/reply', { channel, from, to, text: 'START' });

    beforeAll(async () => {
      dashboard = await DashboardApp.start({
        database: database.options(),
        dashboard: { files: await builtPages(), access: () => SENDER },
        messaging: {
          providers: {
            test: simulator({ reportDelay: 1, channels: ['sms', 'email'] }),
            paper: () => ({
              name: 'paper',
              capabilities: {
                maxRecipients: 1,
                idempotencyWindow: 0,
                channels: ['sms', 'whatsapp', 'voice'],
              },
              submit: async () => ({ reference: randomUUID() }),
            }),
          },
          routes: [
            { channel: 'sms', to: ['234801'], use: 'test' },
            { channel: 'sms', use: 'paper' },
            { channel: 'whatsapp', use: 'paper' },
            { channel: 'email', use: 'test' },
          ],
        },
      });
      const to = [NUMBER, '2348020000001'];
      const { id } = await sms().send({ from: 'ACME', to, body: 'x' }, { tenant: 'acme' });
      await settled(id);
    });
    afterAll(() => dashboard?.close());

    const sms = () => dashboard.app.get(SmsService, { strict: false });
    const settled = (id: string) =>
      eventually(async () => {
        const { counts } = await sms().batch(id, { tenant: 'acme' });
        expect(counts).toEqual({ delivered: 1, sent: 1 });
      });

    it('a text that a person wrote to the other provider is on no phone', async () => {
      const recorder = dashboard.app.get(InboundRecorder, { strict: false });
      const from = { bsuid: null, to: 'ACME', sentAt: null, channel: 'sms', tenant: 'acme' };
      for (const [transport, number] of [
        ['paper', '2348020000001'],
        ['test', NUMBER],
      ] as const)
        await recorder.record(
          [{ ...from, messageId: transport, from: number, text: `from ${transport}` }],
          { transport },
        );
      const { text, body } = await dashboard.get('/dashboard/api/phones');
      expect(text).not.toMatch(/2348020000001|from paper/);
      expect(body.phones).toMatchObject([
        { number: NUMBER, messages: [{ text: 'x' }, { text: 'from test' }] },
      ]);
    });

    it('nobody replies in the name of a person, nor on a channel that no simulator carries', async () => {
      const contacts = dashboard.app.get(ContactsService, { strict: false });
      for (const [channel, from, path] of [
        ['whatsapp', NUMBER, 'channel'],
        ['voice', NUMBER, 'channel'],
        // Its message went to the other provider.
        ['sms', '2348020000001', 'from'],
        // Nothing was sent to it.
        ['sms', '2348010000099', 'from'],
      ] as const) {
        const { status, body } = await reply(channel, from, whatsApp);
        expect([channel, from, status, body.error?.fields?.[0]?.path]).toEqual([
          channel,
          from,
          422,
          path,
        ]);
      }
      expect(await contacts.find('2348010000099', { tenant: 'acme' })).toBeUndefined();
      expect((await reply('sms', NUMBER, 'ACME')).status).toBe(202);
      // The simulator alone carries e-mail.
      expect((await reply('email', 'ada@demo.test', 'shop@demo.test')).status).toBe(202);
    });
  },
  ['sqlite', 'postgres'],
);
