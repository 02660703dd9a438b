import { alertDataOf, type AlertView } from './alerts.js';

export interface NoticeText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A notice as e-mail. @param alert `undefined`: a test of the channel */
export function mailOf(alert: AlertView | undefined): NoticeText {
  const { headline, detail, rows, url } = partsOf(alert);
  const subject = `[Dundun] ${headline}`;
  const lines = rows.map(([name, value]) => `${name}: ${value}`);
  const text = [headline, '', detail, '', ...lines, ...(url === undefined ? [] : ['', url])];
  return { subject, text: `${text.join('\n').trimEnd()}\n`, html: htmlOf(alert) };
}

/** The form of incoming webhooks of Slack, which other chat services take, too. */
export function slackOf(alert: AlertView | undefined): { readonly text: string } {
  const { headline, detail, url } = partsOf(alert);
  const link = url === undefined ? '' : `\n<${url}|Open the page>`;
  return { text: `*${forSlack(headline)}*\n${forSlack(detail)}${link}` };
}

/** As the callbacks of accounts. */
export function webhookOf(alert: AlertView | undefined, at: Date) {
  const timestamp = at.toISOString();
  return alert
    ? { type: `alert.${alert.state}`, timestamp, data: alertDataOf(alert) }
    : { type: 'webhook.test', timestamp, data: {} };
}

function partsOf(alert: AlertView | undefined) {
  if (!alert)
    return {
      headline: 'Test of this channel',
      detail: 'Alerts of the gateway are sent to this channel.',
      rows: [],
      url: undefined,
    };
  const { state, subject, detail, accountId, raisedAt, resolvedAt, seen, url, title, over } = alert;
  const isOver = state === 'resolved';
  const figures = Object.entries(seen.figures).map(
    ([name, value]) => [wordsOf(name), value ?? '-'] as const,
  );
  return {
    headline: `${isOver ? 'Resolved' : 'Alert'}: ${isOver ? over : title} (${subject})`,
    detail: isOver ? `It was: ${detail}` : detail,
    rows: [
      ...(accountId === null ? [] : [['Account', accountId] as const]),
      ['Raised', raisedAt.toISOString()] as const,
      ...(resolvedAt ? [['Resolved', resolvedAt.toISOString()] as const] : []),
      ...(seen.window ? [['Window', `${seen.window.since} to ${seen.window.until}`] as const] : []),
      ...figures,
    ],
    url,
  };
}

/** `usual_percent` as `Usual percent`. */
function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; padding: 24px 16px; background: #f4f5f7; color: #1c1f24;
    font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; }
  main { max-width: 560px; margin: 0 auto; padding: 24px; background: #fff; border-radius: 8px;
    border-top: 4px solid #b42318; overflow-wrap: anywhere; }
  main.over { border-top-color: #1a7f37; }
  h1 { margin: 0 0 12px; font-size: 20px; line-height: 1.3; }
  p { margin: 0 0 16px; }
  table { width: 100%; border-collapse: collapse; margin: 0 0 20px; font-size: 14px; }
  th, td { padding: 6px 0; border-top: 1px solid #e3e5e8; text-align: left; vertical-align: top; }
  th { width: 40%; padding-right: 12px; font-weight: 400; color: #5b626c; }
  a { display: inline-block; padding: 10px 16px; border-radius: 6px; background: #1f4fd8; color: #fff;
    text-decoration: none; }
  @media (prefers-color-scheme: dark) {
    body { background: #111418; color: #e6e8eb; }
    main { background: #1b1f25; }
    th, td { border-color: #323842; }
    th { color: #a4acb8; }
    a { background: #9db7ff; color: #10131a; }
  }`;

function htmlOf(alert: AlertView | undefined): string {
  const { headline, detail, rows, url } = partsOf(alert);
  const table = rows.map(
    ([name, value]) =>
      `<tr><th scope="row">${escaped(name)}</th><td>${escaped(String(value))}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(headline)}</title>
<style>${STYLE}
</style></head>
<body><main${alert?.state === 'raised' ? '' : ' class="over"'}>
<h1>${escaped(headline)}</h1>
<p>${escaped(detail)}</p>
${table.length === 0 ? '' : `<table>${table.join('')}</table>\n`}${url === undefined ? '' : `<a href="${escaped(url)}">Open the page</a>\n`}</main></body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** Slack takes these three for its own marks. */
function forSlack(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character);
}
