/** A notification of a delivery (RFC 3464), as a relay writes it to a return address. */
export function statusNotification(
  action: 'failed' | 'delayed' | 'delivered',
  recipient: string,
  diagnostic = 'smtp; 550 5.1.1 No such user',
  /** Code of the relay. @default that of the diagnostic */
  code?: string,
): string {
  const own = / ([45]\.\d\.\d+)/.exec(diagnostic)?.[1] ?? '';
  const status = action === 'delivered' ? '2.0.0' : (code ?? own);
  return [
    'From: MAILER-DAEMON@relay.example.com',
    'Subject: Delivery Status Notification',
    'Auto-Submitted: auto-replied',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.example.com',
    '',
    `Original-Recipient: rfc822;${recipient}`,
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    'Remote-MTA: dns; mx.example.org',
    ...(action === 'delivered' ? [] : [`Diagnostic-Code: ${diagnostic}`]),
    '--b--',
    '',
  ].join('\r\n');
}

/** A complaint (RFC 5965) about a message with this return address. */
export function complaint(returnAddress: string): string {
  return [
    'From: feedback@isp.example',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: ISP/1.0',
    'Version: 1',
    `Original-Mail-From: <${returnAddress}>`,
    '--b--',
    '',
  ].join('\r\n');
}
