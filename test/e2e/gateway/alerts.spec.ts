import { MessagingService } from '@dundun/messaging';
import { HoldsService } from '@dundun/messaging/operations';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import PostalMime from 'postal-mime';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AlertChannels } from '../../../src/alerts/alert-channels.js';
import type { AlertKind } from '../../../src/alerts/alert-kinds.js';
import { AlertRules } from '../../../src/alerts/alert-rules.js';
import { Alerts } from '../../../src/alerts/alerts.js';
import { AlertEvaluationEntity, AlertNoticeEntity } from '../../../src/alerts/alerts.tables.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { ThresholdsService } from '../../../src/billing/thresholds/thresholds.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { limitTests } from '../../support/time-limit.js';
import { TestGateway } from './test-gateway.js';

limitTests(120);

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const DAY = 86_400_000;
const HOUR = 3_600_000;
const nothing = () => Promise.resolve();
const originOf = ({ url }: Receiver): string => new URL(url).origin;

describeEachDatabase('alerts', (database) => {
  let mail: MailServer;
  let chat: Receiver;
  let hook: Receiver;
  let one: TestGateway;
  let other: TestGateway;
  let account: CreatedAccount;
  let hookSecret: string;

  const part = <T>(type: abstract new (...given: never[]) => T, gateway = one): T =>
    gateway.running.app.get(type, { strict: false });
  const source = () => one.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  const change = (kind: AlertKind, settings: Record<string, string>, channels?: string[]) =>
    part(AlertRules).change(kind, { settings, channels }, nothing);
  const send = async (to: string[], from = account) => {
    const answered = await one.call('POST', '/ng/v1/sendsms', {
      token: from.apiToken,
      body: { from: 'ACME', to, body: 'Hello', delivery_report: 'yes' },
    });
    expect(answered.status).toBe(200);
  };
  /** Every process follows a hold within a second. */
  const hold = async (of: CreatedAccount) => {
    await part(HoldsService).hold({ lanes: `${of.accountId}:sms`, reason: 'under_repair' });
    await wait(1_500);
  };
  const release = (of: CreatedAccount) =>
    part(HoldsService).release({ lanes: `${of.accountId}:sms`, reason: 'under_repair' });
  const found = async (kind: AlertKind) => {
    const page = { account: null, limit: 100, cursor: undefined };
    const { data } = await part(Alerts).list(page);
    return data.filter((alert) => alert.kind === kind);
  };
  const only = async (kind: AlertKind, state: 'raised' | 'resolved') => {
    const alerts = await found(kind);
    expect(alerts.map((alert) => alert.state)).toEqual([state]);
    return alerts[0]!;
  };
  /** Bodies of the notices of a kind that the webhook of the operators got. */
  const hooked = (kind: AlertKind) =>
    hook.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter(({ data }) => data['kind'] === kind);

  beforeAll(async () => {
    [mail, chat, hook] = await Promise.all([
      MailServer.start(),
      Receiver.start(),
      Receiver.start(),
    ]);
    const settings = {
      DATABASE_URL: database.url,
      ALERTS_EVERY: '1s',
      ALERTS_SMTP: mail.url,
      ALERTS_SMTP_TLS: 'off',
      ALERTS_FROM: 'Alerts <alerts@example.com>',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SMS_PRICES: 'NGN *=0.01',
    };
    one = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
    account = await one.account();
    const channels = part(AlertChannels);
    await channels.add('email', 'operator@example.com', nothing);
    await channels.add('slack', `${originOf(chat)}/services/T0/B0/secret`, nothing);
    const { secret } = await channels.add('webhook', `${originOf(hook)}/alerts`, nothing);
    hookSecret = secret!;
  });
  afterAll(async () => {
    await one?.destroy();
    await other?.destroy();
    await Promise.all([mail?.close(), chat?.close(), hook?.close()]);
  });

  it('a held lane is notified once by two processes: by e-mail, Slack form and signed webhook, to its account as a signed event, and once more when it is over', async () => {
    const receiver = await Receiver.start();
    const added = await part(WebhookEndpointsService).add(
      account.accountId,
      `${originOf(receiver)}/own`,
      ['alert.raised', 'alert.resolved'],
    );
    await change('lane_waiting', { after: '2s' });
    await hold(account);
    await send(['2348012345678']);
    await eventually(async () => {
      expect(mail.accepted).toHaveLength(1);
      expect(chat.received).toHaveLength(1);
      expect(hook.received).toHaveLength(1);
      expect(receiver.received).toHaveLength(1);
    });
    const raised = await only('lane_waiting', 'raised');
    expect(raised).toMatchObject({
      accountId: account.accountId,
      subject: 'sms',
      seen: { figures: { state: 'held', reason: 'under_repair', channel: 'sms' } },
      detail: expect.stringMatching(
        /^The oldest due message on sms has waited for \d+ s \(held: under_repair\)\.$/,
      ),
      url: expect.stringMatching(
        new RegExp(`/portal/a/${account.accountId}/messages\\?status=queued&channel=sms$`),
      ),
    });
    const letter = await PostalMime.parse(mail.accepted[0]!.message);
    expect(mail.accepted[0]!.to).toEqual(['operator@example.com']);
    expect(letter.from).toMatchObject({ name: 'Alerts', address: 'alerts@example.com' });
    expect(letter.subject).toBe('[Dundun] Alert: Messages wait (sms)');
    expect(letter.text).toContain(raised.url);
    expect(letter.html).toContain('held: under_repair');
    const [posted] = chat.received;
    expect(posted!.path).toBe('/services/T0/B0/secret');
    expect(JSON.parse(posted!.body)).toEqual({
      text: expect.stringContaining('*Alert: Messages wait (sms)*'),
    });
    const [noted] = hook.received;
    expect(new Webhook(hookSecret).verify(noted!.body, noted!.headers)).toMatchObject({
      type: 'alert.raised',
      data: { alert_id: raised.id, kind: 'lane_waiting', state: 'raised', url: raised.url },
    });
    const [own] = receiver.received;
    expect(new Webhook(added.secret).verify(own!.body, own!.headers)).toMatchObject({
      type: 'alert.raised',
      data: { alert_id: raised.id, account_id: account.accountId, resolved_at: null },
    });
    // Several evaluations later nothing was said again.
    const { seenAt } = raised;
    await eventually(async () => {
      const [now] = await found('lane_waiting');
      expect(now!.seenAt.getTime()).toBeGreaterThan(seenAt.getTime() + 3_000);
    });
    expect(mail.accepted).toHaveLength(1);
    await release(account);
    await eventually(async () => {
      await only('lane_waiting', 'resolved');
      expect(mail.accepted).toHaveLength(2);
      expect(hook.received).toHaveLength(2);
      expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
        'alert.raised',
        'alert.resolved',
      ]);
    });
    // Again within the pause: it stands in the list without a notice.
    await hold(account);
    await send(['2348012345678']);
    await eventually(async () => {
      const [again] = await found('lane_waiting');
      expect(again).toMatchObject({ state: 'raised', notifiedAt: null });
    });
    await release(account);
    await eventually(async () => {
      const alerts = await found('lane_waiting');
      expect(alerts.map(({ state }) => state)).toEqual(['resolved', 'resolved']);
    });
    expect(mail.accepted).toHaveLength(2);
    expect(receiver.received).toHaveLength(2);
    await receiver.close();
  });

  it('a carrier that fails raises failures of one code, and a delivered share below that of the same hours before', async () => {
    await change('failures', { minimum: '10', share: '30', window: '1m' });
    await change('delivered_share', { minimum: '20', within: '5s', window: '1h' });
    const numbers = Array.from({ length: 40 }, (_, n) => `23480${String(n).padStart(4, '0')}9901`);
    await send(numbers);
    await eventually(async () => {
      const failures = await only('failures', 'raised');
      expect(failures).toMatchObject({
        subject: 'sms absent_subscriber',
        accountId: null,
        seen: { figures: { failures: 40, channel: 'sms', code: 'absent_subscriber' } },
        url: expect.stringMatching(/\/portal\/insights\?channel=sms$/),
      });
    });
    // The messages become a quarter of an hour older, and four days of the same hours have better ones.
    const sql = source();
    await sql.transaction(async (tx) => {
      // The lock of a fold, which would move counts between the two statements.
      await tx.query('UPDATE messaging_outcome_state SET id = id WHERE id = 0');
      for (const table of ['outcome_hour', 'outcome_change'])
        await tx.query(`UPDATE messaging_${table} SET start = start - ${15 * 60_000_000}`);
    });
    const [{ names }] = (await sql.query(
      `SELECT count(*) AS names FROM messaging_outcome_change WHERE country = 'NG'`,
    )) as [{ names: string }];
    const [{ hours }] = (await sql.query(
      `SELECT count(*) AS hours FROM messaging_outcome_hour WHERE country = 'NG'`,
    )) as [{ hours: string }];
    expect(Number(names) + Number(hours)).toBeGreaterThan(0);
    const hour = Math.floor((Date.now() - 20 * 60_000) / HOUR) * HOUR;
    const columns = Array.from({ length: 14 }, (_, n) => [`sent_${n}`, `delivered_${n}`]).flat();
    for (const days of [1, 2, 3, 4]) {
      const counts = columns.map((name) => (name === 'delivered_1' ? 95 : 0)).join(', ');
      await sql.query(
        `INSERT INTO messaging_outcome_hour (start, tenant, channel, provider, country, sender, tag, category,
            status, minutes, messages, parts, ${columns.join(', ')})
          VALUES (${(hour - days * DAY) * 1_000}, '${account.accountId}', 'sms', 'simulator', 'NG', 'ACME', '',
            '', 60, 60, 100, 100, ${counts})`,
      );
    }
    await eventually(async () => {
      const share = await only('delivered_share', 'raised');
      expect(share).toMatchObject({
        subject: 'simulator NG',
        accountId: null,
        seen: {
          figures: { percent: expect.any(Number), usual_percent: 95, lowest_percent: 85 },
          window: { since: expect.any(String), until: expect.any(String) },
        },
        url: expect.stringMatching(/insights\?by=country&provider=simulator&country=NG$/),
      });
      expect(share.seen.figures['percent']).toBeLessThan(20);
    });
    await part(AlertRules).change('delivered_share', { enabled: false }, nothing);
    await eventually(async () => void (await only('delivered_share', 'resolved')));
    await eventually(async () =>
      expect(hooked('delivered_share').map(({ type }) => type)).toEqual([
        'alert.raised',
        'alert.resolved',
      ]),
    );
  });

  it('a webhook that answers 500 raises an alert of its account, which its other webhook gets', async () => {
    const broken = await Receiver.start(answer(500));
    const works = await Receiver.start();
    const endpoints = part(WebhookEndpointsService);
    const second = await one.account('second');
    const failing = await endpoints.add(second.accountId, `${originOf(broken)}/a`);
    await endpoints.add(second.accountId, `${originOf(works)}/b`, [
      'alert.raised',
      'alert.resolved',
    ]);
    await change('webhook_failing', { after: '1s' });
    await send(['2348012345678'], second);
    await eventually(async () => {
      const [alert] = await found('webhook_failing');
      expect(alert).toMatchObject({
        state: 'raised',
        accountId: second.accountId,
        subject: failing.id,
        seen: { figures: { origin: originOf(broken) } },
        url: expect.stringMatching(new RegExp(`/settings/webhook/${failing.id}$`)),
      });
      expect(works.received.map(({ body }) => JSON.parse(body).type)).toEqual(['alert.raised']);
    });
    // The account is told, the operators are not.
    expect(hooked('webhook_failing')).toEqual([]);
    broken.respond = answer(204);
    await eventually(async () => {
      await only('webhook_failing', 'resolved');
      expect(works.received).toHaveLength(2);
    });
    await Promise.all([broken.close(), works.close()]);
  });

  it('a low balance by the rule of its account alone, and a rule with channels notifies them', async () => {
    const poor = await one.account('poor');
    // First, as the rule of all accounts finds a prepaid account without credit.
    await part(BillingService).topUp(
      poor.accountId,
      { amount: '40', reference: 'one', userId: null },
      nothing,
    );
    await part(BillingService).setMode(poor.accountId, { mode: 'prepaid' }, nothing);
    const rule = await part(AlertRules).add(
      { kind: 'balance_low', accountId: poor.accountId, settings: { below: '50' } },
      nothing,
    );
    await eventually(async () => {
      expect(await only('balance_low', 'raised')).toMatchObject({
        rule: rule.id,
        accountId: poor.accountId,
        detail: expect.stringMatching(/^40\.00 \w{3} are available, less than 50\.00 \w{3}\.$/),
      });
    });
    expect(hooked('balance_low')).toEqual([]);
    await part(AlertRules).remove(rule.id, nothing);
    await eventually(async () => void (await only('balance_low', 'resolved')));
  });

  it('a webhook that gets account.balance_low gets no alert of the same, another webhook does', async () => {
    const [both, alertsAlone] = [await Receiver.start(), await Receiver.start()];
    const { accountId } = await one.account('low');
    const endpoints = part(WebhookEndpointsService);
    const alertKinds = ['alert.raised', 'alert.resolved'];
    await endpoints.add(accountId, `${originOf(both)}/a`, [...alertKinds, 'account.balance_low']);
    await endpoints.add(accountId, `${originOf(alertsAlone)}/b`, alertKinds);
    const topUp = (amount: string, reference: string) =>
      part(BillingService).topUp(accountId, { amount, reference, userId: null }, nothing);
    await topUp('90', 'one');
    await part(BillingService).setMode(accountId, { mode: 'prepaid' }, nothing);
    await part(ThresholdsService).set(accountId, { thresholds: ['50'] }, nothing);
    const rule = await part(AlertRules).add(
      { kind: 'balance_low', accountId, settings: { below: '50' } },
      nothing,
    );
    const adjust = { amount: '-60', reference: 'two', userId: null };
    await part(BillingService).adjust(accountId, adjust, nothing);
    const typesAt = ({ received }: Receiver) =>
      received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    await eventually(async () => {
      expect(typesAt(both)).toEqual(['account.balance_low']);
      expect(typesAt(alertsAlone)).toEqual(['alert.raised']);
    });
    // Without thresholds the alert stays told as it was.
    await part(ThresholdsService).set(accountId, { thresholds: [] }, nothing);
    await topUp('90', 'three');
    await eventually(async () => expect(typesAt(alertsAlone)).toEqual(alertKinds));
    expect(typesAt(both)).toEqual(['account.balance_low']);
    await part(AlertRules).remove(rule.id, nothing);
    await Promise.all([both.close(), alertsAlone.close()]);
  });

  it('sends over a limit against abuse raise one alert of their account, also where they are refused and in two processes', async () => {
    const own = await Receiver.start();
    const abused = await one.account('abused');
    const { accountId } = abused;
    await part(WebhookEndpointsService).add(accountId, `${originOf(own)}/`, ['alert.raised']);
    const guard = {
      recipient: { limit: '2/h' },
      prefix: { limit: '4/h', action: 'alert' },
    } as const;
    await one.accounts.change(accountId, { guard }, nothing);
    // Each process reads the rules once a second.
    await wait(2_500);
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, n) =>
        (n % 2 ? other : one).call('POST', '/ng/v1/sendsms', {
          token: abused.apiToken,
          body: { from: 'ACME', to: [`234801234567${n % 3}`], body: 'Hello' },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
    await eventually(async () => {
      const alerts = (await found('abuse')).toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
      expect(alerts).toMatchObject([
        {
          subject: 'prefix sms',
          state: 'raised',
          accountId,
          detail: expect.stringMatching(
            /^More than 4 messages to numbers .*: the message was sent/,
          ),
          url: expect.stringMatching(
            new RegExp(`/a/${accountId}/messages\\?channel=sms&since=20[\\d-]+T`),
          ),
        },
        {
          subject: 'recipient sms',
          accountId,
          detail: 'More than 2 messages to one recipient in 1 h: the send was refused.',
          seen: { figures: { account: accountId, rule: 'recipient', action: 'deny' } },
          url: expect.stringMatching(
            new RegExp(`/a/${accountId}/insights\\?by=country&channel=sms$`),
          ),
        },
      ]);
      expect(own.received).toHaveLength(2);
      expect(hooked('abuse').map(({ type }) => type)).toEqual(['alert.raised', 'alert.raised']);
    });
    const texts = [...hook.received, ...own.received, ...chat.received].map(({ body }) => body);
    expect(texts.join()).not.toContain('2348012345');
    await own.close();
  });

  it('reports of delivery that a second witness contradicts raise an alert of the carrier and country', async () => {
    await change('doubtful_receipts', { window: '6h', country: 'GH', doubt: '50' });
    const columns = Array.from({ length: 14 }, (_, n) => [`sent_${n}`, `delivered_${n}`]).flat();
    const add = (provider: string, classOfTime: string) =>
      source().query(
        `INSERT INTO messaging_outcome_hour (start, tenant, channel, provider, country, sender, tag, category,
            status, minutes, messages, parts, ${columns.join(', ')})
          VALUES (${Math.floor(Date.now() / HOUR) * HOUR * 1_000}, '${account.accountId}', 'sms', '${provider}',
            'GH', 'ACME', '', '', 60, 60, 100, 100,
            ${columns.map((name) => (name === classOfTime ? 100 : 0)).join(', ')})`,
      );
    await add('swift', 'delivered_0');
    await add('honest', 'delivered_6');
    await eventually(async () => {
      expect(await only('doubtful_receipts', 'raised')).toMatchObject({
        subject: 'swift sms GH speed',
        accountId: null,
        detail:
          'Of swift on sms to GH: 100.0 % of 100 deliveries were reported within half a second.',
        seen: { figures: { witness: 'speed', doubted_percent: 100, others_percent: 0 } },
        url: expect.stringMatching(
          /\/portal\/insights\?by=country&channel=sms&provider=swift&country=GH$/,
        ),
      });
      expect(hooked('doubtful_receipts')).toHaveLength(1);
    });
    await source().query(`DELETE FROM messaging_outcome_hour WHERE provider = 'swift'`);
    await eventually(async () => void (await only('doubtful_receipts', 'resolved')));
  });

  it('a notice that fails is sent again under its id', async () => {
    const flaky = await Receiver.start(answer(500));
    const channels = part(AlertChannels);
    const { id } = await channels.add('webhook', `${originOf(flaky)}/`, nothing);
    await channels.test(id, nothing);
    await eventually(async () => {
      const [listed] = (await channels.list()).filter((channel) => channel.id === id);
      expect(listed).toMatchObject({ error: 'http_status 500', target: originOf(flaky) });
    });
    flaky.respond = answer(204);
    await eventually(async () => {
      const notices = await source().manager.findBy(AlertNoticeEntity, { channelId: id });
      expect(notices).toMatchObject([{ attempts: 2, error: null, dueAt: null }]);
    });
    expect(new Set(flaky.received.map((each) => each.id)).size).toBe(1);
    await channels.remove(id, nothing);
    await flaky.close();
  });

  it('after the clock was set back by hours rules are evaluated and notices are sent', async () => {
    const late = await Receiver.start();
    const channels = part(AlertChannels);
    const { id: channelId } = await channels.add('webhook', `${originOf(late)}/`, nothing);
    const ahead = new Date(Date.now() + 2 * HOUR);
    await part(MessagingService).transaction(async (manager) => {
      const times = { evaluatedAt: ahead, quietUntil: ahead };
      await manager.update(AlertEvaluationEntity, { id: 1 }, times);
      for (const attempts of [0, 1])
        await manager.insert(AlertNoticeEntity, {
          id: systemClock.id(),
          channelId,
          alertId: null,
          state: 'test',
          dueAt: ahead,
          attempts,
          createdAt: ahead,
        });
    });
    await eventually(async () => {
      expect(late.received).toHaveLength(2);
      const [state] = await source().manager.find(AlertEvaluationEntity);
      expect(state!.evaluatedAt.getTime()).toBeLessThan(ahead.getTime() - HOUR);
      expect(state!.quietUntil.getTime()).toBeLessThan(ahead.getTime() - HOUR);
    });
    await channels.remove(channelId, nothing);
    await late.close();
  });

  it('another module raises and resolves an alert by one call each, also in a transaction of its own', async () => {
    const alerts = part(Alerts);
    const alert = {
      kind: 'notice_undelivered',
      subject: 'elsewhere',
      detail: 'Something is wrong.',
      page: 'lanes',
    } as const;
    await Promise.all([alerts, part(Alerts, other)].map((each) => each.raise(alert)));
    await alerts.raise(alert);
    await expect(
      part(MessagingService).transaction(async (manager) => {
        await alerts.raise({ ...alert, subject: 'undone' }, manager);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await found('notice_undelivered')).toMatchObject([
      { subject: 'elsewhere', state: 'raised' },
    ]);
    await eventually(async () => expect(hooked('notice_undelivered')).toHaveLength(1));
    await alerts.resolve(alert);
    await only('notice_undelivered', 'resolved');
  });

  it('a restart says nothing again of what is raised, and raises nothing at once', async () => {
    const third = await one.account('third');
    await hold(account);
    await send(['2348012345678']);
    const lanesOf = async (of: CreatedAccount) =>
      (await found('lane_waiting')).filter(
        ({ accountId, state }) => accountId === of.accountId && state === 'raised',
      );
    await eventually(async () => expect(await lanesOf(account)).toHaveLength(1));
    const [before] = await lanesOf(account);
    await one.stop();
    await other.stop();
    const notices = hook.received.length;
    // Longer than five intervals.
    await wait(5_500);
    const restarted = Date.now();
    await one.start();
    await other.start();
    await hold(third);
    await send(['2348012345678'], third);
    await eventually(async () => expect(await lanesOf(third)).toHaveLength(1));
    expect(await lanesOf(account)).toMatchObject([{ id: before!.id }]);
    const [raised] = await lanesOf(third);
    expect(raised!.raisedAt.getTime() - restarted).toBeGreaterThanOrEqual(5_000);
    const told = hook.received.slice(notices).map(({ body }) => body);
    expect(told.filter((body) => body.includes(before!.id))).toEqual([]);
    for (const each of [account, third]) await release(each);
    await eventually(async () => {
      expect([...(await lanesOf(account)), ...(await lanesOf(third))]).toEqual([]);
    });
  });
});
