import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { Logger } from '@nestjs/common';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import type { SentSubmission } from '../../ports/message-transport.js';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import { http, type HttpTransport } from './http.transport.js';

const signal = new AbortController().signal;
let service: InterfaceServer;
let transport: HttpTransport;

beforeEach(async () => {
  service = await InterfaceServer.start();
  transport = http({ baseUrl: service.url, apiToken: service.apiToken })(
    transportContext(),
  ) as HttpTransport;
});
afterEach(async () => {
  await transport.onApplicationShutdown();
  await service.close();
});

const firstSentAt = new Date(1_790_000_000_000);

const named = (submissionId: string, reference: string): SentSubmission => ({
  submissionId,
  channel: 'sms',
  reference,
  recipients: [],
  firstSentAt,
});

async function sent(count: number, recipients = ['2348012345678']): Promise<SentSubmission[]> {
  const submissions: SentSubmission[] = [];
  for (let index = 0; index < count; index++) {
    const id = `b${index}-s0`;
    const { reference } = await transport.submit(
      {
        id,
        batchId: `b${index}`,
        tenant: '',
        channel: 'sms',
        sender: service.sender,
        content: { kind: 'text', text: 'x' },
        recipients,
        deliveryReport: false,
        attempt: 1,
        dueAt: firstSentAt,
        firstSentAt,
      },
      signal,
    );
    submissions.push({ submissionId: id, channel: 'sms', reference, recipients, firstSentAt });
  }
  service.requests.length = 0;
  return submissions;
}

describe('fetchReports', () => {
  it('a poll asks for 100 references per request and matches the reports', async () => {
    const submissions = await sent(100);
    const reports = await transport.fetchReports(submissions, signal);
    expect(service.requests).toHaveLength(1);
    expect(reports.map(({ submissionId, reference }) => ({ submissionId, reference }))).toEqual(
      submissions.map(({ submissionId, reference }) => ({ submissionId, reference })),
    );
    expect(reports[0]).toEqual({
      submissionId: 'b0-s0',
      reference: submissions[0]?.reference,
      messageId: `${submissions[0]?.reference}-0`,
      recipient: '2348012345678',
      status: 'delivered',
      rawStatus: 'delivered',
      errorCode: null,
      providerTime: new Date('2026-01-02T03:04:05.678Z'),
    });
  });

  it('a poll asks by key where no reference is known', async () => {
    const submissions = await sent(3);
    const lost = submissions.map((submission) => ({ ...submission, reference: null }));
    const reports = await transport.fetchReports(lost, signal);
    expect(service.requests).toHaveLength(3);
    const pairs = ({
      submissionId,
      reference,
    }: {
      submissionId?: string;
      reference: string | null;
    }) => `${submissionId} ${reference}`;
    expect(new Set(reports.map(pairs))).toEqual(new Set(submissions.map(pairs)));
  });

  it('a poll reads every page', async () => {
    service.pageSize = 7;
    const recipients = Array.from({ length: 30 }, (_, index) => String(2348012345000 + index));
    const reports = await transport.fetchReports(await sent(2, recipients), signal);
    expect(service.requests).toHaveLength(9);
    expect(
      new Set(reports.map(({ submissionId, recipient }) => `${submissionId} ${recipient}`)).size,
    ).toBe(60);
  });

  it('a poll keeps the pages before a failure', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    service.pageSize = 7;
    const recipients = Array.from({ length: 30 }, (_, index) => String(2348012345000 + index));
    const asked = await sent(1, recipients);
    for (const status of [503, 429]) {
      service.requests.length = 0;
      service.answer((_request, response) => {
        if (service.requests.length < 3) return false;
        response.writeHead(status).end('{}');
        return true;
      });
      expect(await transport.fetchReports(asked, signal)).toHaveLength(14);
    }
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
  });

  it('a failing list fails no other and an unavailable service ends the poll', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const keyed = (await sent(20)).map((one) => ({ ...one, reference: null }));
    const failing = (status: number) =>
      service.answer((request, response) => {
        if (!request.url.includes('idempotency_key=b1-s0')) return false;
        response.writeHead(status).end('{}');
        return true;
      });
    failing(502);
    expect(await transport.fetchReports(keyed, signal)).toHaveLength(19);
    failing(429);
    service.requests.length = 0;
    await transport.fetchReports(keyed, signal);
    expect(service.requests.length).toBeLessThan(20);
    warn.mockRestore();
  });

  it('a cursor that does not move ends the list', async () => {
    service.answer((_request, response) => {
      response.end('{"data":[],"next_cursor":"again"}');
    });
    await transport.fetchReports([named('a', 'r')], signal);
    expect(service.requests).toHaveLength(2);
  });

  it('references too long for one request line go in several', async () => {
    const references = Array.from({ length: 100 }, (_, index) => `${index}-${'é'.repeat(200)}`);
    await transport.fetchReports(
      references.map((reference) => named(reference, reference)),
      signal,
    );
    expect(service.requests.length).toBeGreaterThan(1);
    const asked = service.requests.flatMap(({ url }) => {
      expect(url.length).toBeLessThan(8_000);
      return new URL(url, service.url).searchParams.getAll('reference_id');
    });
    expect(new Set(asked)).toEqual(new Set(references));
    expect(asked).toHaveLength(100);
  });

  it('a refused list leaves the others alone; a list of refusals is a refusal', async () => {
    const [known, lost] = await sent(2);
    if (!known || !lost) throw new Error('nothing was sent');
    const query = [known, { ...lost, reference: null }];
    service.answer((request, response) => {
      if (!request.url.includes('idempotency_key')) return false;
      response.writeHead(422).end('{"error":{"code":"invalid_field"}}');
      return true;
    });
    expect(await transport.fetchReports(query, signal)).toHaveLength(1);
    service.answer(
      (_request, response) => void response.writeHead(410).end('{"error":{"code":"gone"}}'),
    );
    await expect(transport.fetchReports(query, signal)).rejects.toBeInstanceOf(PermanentFailure);
  });

  it('a refused credential and a broken answer fail the poll', async () => {
    const query = [named('a', 'r')];
    service.answer(
      (_request, response) => void response.writeHead(401).end('{"error":{"code":"unauthorized"}}'),
    );
    await expect(transport.fetchReports(query, signal)).rejects.toBeInstanceOf(PausedFailure);
    service.answer((_request, response) => void response.end('{"data":'));
    await expect(transport.fetchReports(query, signal)).rejects.toBeInstanceOf(UncertainFailure);
  });

  it('an item that cannot be read is left out and counted, the rest is kept', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    service.answer((_request, response) => {
      response.end(
        JSON.stringify({
          data: [null, 7, { status: 'delivered' }, { reference_id: 'r', status: 'delivered' }],
          next_cursor: null,
        }),
      );
    });
    const query = [named('a', 'r')];
    expect(await transport.fetchReports(query, signal)).toMatchObject([
      { submissionId: 'a', status: 'delivered' },
    ]);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^3 fetched/));
    warn.mockRestore();
  });
});
