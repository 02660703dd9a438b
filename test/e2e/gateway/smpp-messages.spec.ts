import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  commandStatusName,
  MESSAGE_STATE,
  parseSmppTime,
  type SmppAddress,
  formatAbsoluteTime,
} from '@dundun/smpp';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { SmppClient, TO } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const source = { ton: 5, npi: 0, address: 'ACME' };
const destination = { ton: 1, npi: 1, address: TO };
/** The simulator does not deliver to it. */
const UNDELIVERED = '2348012349901';

describeEachDatabase(
  'query_sm and cancel_sm of customers',
  (database) => {
    let gateway: TestGateway;
    let account: CreatedAccount;
    let client: SmppClient;
    let stranger: SmppClient;

    beforeAll(async () => {
      const port = await freePort();
      const settings = { DATABASE_URL: database.url, SMPP_LISTEN: `127.0.0.1:${port}` };
      gateway = await new TestGateway(settings).start();
      account = await gateway.account();
      const bind = async (of: CreatedAccount) =>
        SmppClient.bind(
          port,
          await gateway.running.app.get(SmppCredentials, { strict: false }).add(of.accountId),
        );
      client = await bind(account);
      stranger = await bind(await gateway.account('stranger'));
    });
    afterAll(async () => {
      await client.session.unbind();
      await stranger.session.unbind();
      await gateway.destroy();
    });

    const submit = async (more = {}): Promise<string> => {
      const [answer] = await client.submit('Hello', more);
      expect(answer?.status).toBe(0);
      return String(answer?.messageId);
    };
    const later = () => ({
      scheduleDeliveryTime: formatAbsoluteTime(new Date(Date.now() + 3_600_000)),
    });
    const query = async (messageId: string, by = client, from: SmppAddress = source) => {
      const answer = await by.session.request('query_sm', { messageId, source: from });
      return 'messageState' in answer && answer.status === 0
        ? answer
        : commandStatusName(answer.status);
    };
    const cancel = async (messageId: string, fields: object = {}, by = client) => {
      const body = { messageId, source, destination, ...fields };
      return commandStatusName((await by.session.request('cancel_sm', body)).status);
    };

    it('query_sm answers enroute until the final state, and then its time and error', async () => {
      const scheduled = await submit(later());
      expect(await query(scheduled)).toMatchObject({
        messageId: scheduled,
        messageState: MESSAGE_STATE.enroute,
        finalDate: '',
        errorCode: 0,
      });
      const delivered = await submit();
      await eventually(async () =>
        expect(await query(delivered)).toMatchObject({ messageState: MESSAGE_STATE.delivered }),
      );
      const { finalDate } = (await query(delivered)) as { finalDate: string };
      expect(Math.abs(parseSmppTime(finalDate)!.getTime() - Date.now())).toBeLessThan(3_600_000);
      const undelivered = await submit({ to: UNDELIVERED });
      await eventually(async () =>
        expect(await query(undelivered)).toMatchObject({
          messageState: MESSAGE_STATE.undeliverable,
        }),
      );
    });

    it('a message that has not left is cancelled, also a second time', async () => {
      const id = await submit(later());
      expect(await cancel(id)).toBe('ESME_ROK');
      expect(await cancel(id, { destination: { ton: 0, npi: 0, address: '' } })).toBe('ESME_ROK');
      expect(await query(id)).toMatchObject({ messageState: MESSAGE_STATE.deleted });
    });

    it('a message that has left is not cancelled', async () => {
      const id = await submit();
      await eventually(async () =>
        expect(await query(id)).toMatchObject({ messageState: MESSAGE_STATE.delivered }),
      );
      expect(await cancel(id)).toBe('ESME_RCANCELFAIL');
      expect(await query(id)).toMatchObject({ messageState: MESSAGE_STATE.delivered });
    });

    it('query_sm and cancel_sm of an unknown message, another account or other numbers are refused', async () => {
      const id = await submit(later());
      const other = { ton: 1, npi: 1, address: '2348012345679' };
      expect(await query(id, stranger)).toBe('ESME_RQUERYFAIL');
      expect(await query(id, client, other)).toBe('ESME_RQUERYFAIL');
      expect(await query('no id')).toBe('ESME_RQUERYFAIL');
      expect(await cancel(id, {}, stranger)).toBe('ESME_RCANCELFAIL');
      expect(await cancel(id, { source: other })).toBe('ESME_RCANCELFAIL');
      expect(await cancel(id, { destination: other })).toBe('ESME_RCANCELFAIL');
      expect(await cancel('')).toBe('ESME_RCANCELFAIL');
      expect(await query(id)).toMatchObject({ messageState: MESSAGE_STATE.enroute });
    });

    it('a message to several recipients, sent over HTTP, is refused', async () => {
      const { apiToken: token } = account;
      const sendAt = new Date(Date.now() + 3_600_000).toISOString();
      const body = { from: 'ACME', to: [TO, '2348012345679'], body: 'Hello', send_at: sendAt };
      const sent = await gateway.call('POST', '/ng/v1/sendsms', { token, body });
      const id = String(sent.body['reference_id']);
      expect(await cancel(id)).toBe('ESME_RCANCELFAIL');
      expect(await query(id)).toBe('ESME_RQUERYFAIL');
    });
  },
  ['sqlite'],
);
