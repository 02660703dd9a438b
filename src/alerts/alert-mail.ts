import { Inject, Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import type { NoticeText } from './notice-texts.js';

/** Milliseconds of each step of a transaction. */
const TIMEOUT = 15_000;

/** Sends notices as e-mails by the relay of `ALERTS_SMTP`. */
@Injectable()
export class AlertMail {
  constructor(
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<
      Environment,
      'ALERTS_SMTP' | 'ALERTS_SMTP_TLS' | 'ALERTS_FROM' | 'PUBLIC_URL'
    >,
  ) {}

  /**
   * @param id of the notice, which the Message-ID has at each attempt
   * @throws Error of `nodemailer`, whose `code` says what failed
   */
  async send(to: string, id: string, { subject, text, html }: NoticeText): Promise<void> {
    const { ALERTS_SMTP: url, ALERTS_SMTP_TLS: tls, ALERTS_FROM, PUBLIC_URL } = this.environment;
    if (url === undefined) throw Object.assign(new Error('no relay'), { code: 'no_relay' });
    const { hostname } = new URL(PUBLIC_URL);
    const transport = createTransport({
      url,
      requireTLS: tls === 'required',
      ignoreTLS: tls === 'off',
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
    });
    try {
      await transport.sendMail({
        from: ALERTS_FROM ?? `Dundun <alerts@${hostname}>`,
        to,
        subject,
        text,
        html,
        messageId: `<${id}@${hostname}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    } finally {
      transport.close();
    }
  }
}
