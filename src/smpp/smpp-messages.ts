import {
  type AnswerInput,
  type BoundSession,
  COMMAND_STATUS,
  type CommandStatusName,
  formatAbsoluteTime,
  MESSAGE_STATE,
  type PduOf,
  type SmppAddress,
} from '@dundun/smpp';
import { SmsService } from '@dundun/messaging';
import { Injectable, Logger } from '@nestjs/common';
import { AccountReads } from '../accounts/account-reads.js';
import { RequestLimits } from '../accounts/limits.js';
import { commandStatusOf, isTemporary, SubmitRefused } from './command-statuses.js';
import { SmppBinds } from './smpp-binds.js';
import { errorOf, isFinalState, stateOf } from './smpp-receipts.js';

/** Answers questions after messages of the account, and cancels them. */
@Injectable()
export class SmppMessages {
  readonly #logger = new Logger('Smpp');

  constructor(
    private readonly sms: SmsService,
    private readonly binds: SmppBinds,
    private readonly limits: RequestLimits,
    private readonly reads: AccountReads,
  ) {}

  /** 0 where the message has not left and never will. */
  async cancel(pdu: PduOf<'cancel_sm'>, session: BoundSession): Promise<AnswerInput<'cancel_sm'>> {
    const { status } = await this.#answer(session, 'ESME_RCANCELFAIL', async (tenant) => {
      await this.#check(pdu, tenant, pdu.destination);
      const { counts } = await this.sms.cancel(pdu.messageId, { tenant });
      if (counts.cancelled !== 1) throw new SubmitRefused('ESME_RCANCELFAIL');
      return {};
    });
    return { status };
  }

  async query(pdu: PduOf<'query_sm'>, session: BoundSession): Promise<AnswerInput<'query_sm'>> {
    const { messageId } = pdu;
    const nothing = { finalDate: '', messageState: MESSAGE_STATE.unknown, errorCode: 0 };
    const answer = await this.#answer(session, 'ESME_RQUERYFAIL', async (tenant) => {
      const read = async () => {
        await this.#check(pdu, tenant);
        return this.sms.timeline(`${messageId}-0`, { tenant });
      };
      const { status, errorCode, reports } = await this.reads.during(tenant, read);
      const state = stateOf(status);
      const last = reports.findLast((report) => report.status === status);
      const finalDate = isFinalState(state) && last ? formatAbsoluteTime(last.providerTime) : '';
      // One byte.
      const error = Number(errorOf(errorCode));
      return {
        finalDate,
        messageState: MESSAGE_STATE[state],
        errorCode: error > 255 ? 0 : error,
      };
    });
    return { ...nothing, ...answer, messageId };
  }

  /** @throws SubmitRefused or an error of `batch()` where it is no message of these addresses */
  async #check(
    { messageId, source }: { readonly messageId: string; readonly source: SmppAddress },
    tenant: string,
    to?: SmppAddress,
  ): Promise<void> {
    const batch = await this.sms.batch(messageId, { tenant });
    const recipients = await this.sms.recipients(messageId, { tenant, limit: 2 });
    const [recipient, ...others] = recipients.data;
    const isMeant =
      others.length === 0 &&
      numberOf(source) === batch.sender.replace(/^\+/, '') &&
      (to === undefined || to.address === '' || numberOf(to) === recipient);
    if (!isMeant) throw new SubmitRefused('ESME_RINVMSGID');
  }

  async #answer<T extends object>(
    session: BoundSession,
    refusal: 'ESME_RCANCELFAIL' | 'ESME_RQUERYFAIL',
    work: (tenant: string) => Promise<T>,
  ): Promise<Partial<T> & { readonly status: number }> {
    const principal = this.binds.principalOf(session);
    const refused = (name: CommandStatusName) =>
      ({ status: COMMAND_STATUS[name] }) as Partial<T> & { readonly status: number };
    // The bind ends.
    if (!principal) return refused('ESME_RMSGQFUL');
    const { systemId, accountId } = principal;
    const { requests } = this.limits;
    if (requests && requests.take(systemId).remaining < 0) return refused('ESME_RTHROTTLED');
    try {
      return { ...(await work(accountId)), status: COMMAND_STATUS.ESME_ROK };
    } catch (error) {
      const status = commandStatusOf(error);
      if (status === 'ESME_RSYSERR')
        this.#logger.error({ message: 'SMPP request failed', systemId, err: error });
      return refused(isTemporary(status) ? status : refusal);
    }
  }
}

function numberOf({ address }: SmppAddress): string {
  return address.replace(/^\+/, '');
}
