import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Draws the diagrams of the pages as SVG files in `docs/images`.
 *
 *   node docs/diagrams.js
 *
 * A diagram is a grid of boxes and the arrows between them. Each has its own background, and colours for
 * light and dark, so that it is readable in a page of either.
 */

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [168, 56, 76, 44, 20];

const STYLE = `
.back{fill:#fff}.box{fill:#eef3fb;stroke:#31538f}.end{fill:#e8f5ec;stroke:#1d6b3a}.stop{fill:#fbeeee;stroke:#9b2c2c}
.way{stroke:#44506a;fill:none}.tip{fill:#44506a}text{fill:#1b2333;font:13px system-ui,sans-serif;text-anchor:middle}
.under{fill:#44506a;font-size:11px}.word{fill:#44506a;font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:5px}
@media (prefers-color-scheme:dark){.back{fill:#1b1f29}.box{fill:#232c40;stroke:#8fb0ee}.end{fill:#1d3327;stroke:#7fd19b}
.stop{fill:#3b2426;stroke:#f0a3a3}.way{stroke:#b4bfd6}.tip{fill:#b4bfd6}text{fill:#f1f4fa}.word,.under{fill:#c6cfe2}
.word{stroke:#1b1f29}}`;

/** Boxes: key to [column, row, line, second line, kind]. Arrows: [from, to, word]. */
export const DIAGRAMS = {
  'way-of-a-message': {
    title: 'The way of a message',
    text: 'A send is stored in the transaction of the caller, planned by the lane, written down as an intent, submitted to the provider, answered, and settled by the report, which listeners and webhooks hear of.',
    boxes: {
      send: [0, 0, 'send()', 'policy, price'],
      batch: [1, 0, 'batch', 'in your transaction'],
      lane: [2, 0, 'lane', 'plans in order, at a rate'],
      intent: [3, 0, 'intent', 'committed before'],
      submit: [3, 1, 'request', 'to the provider'],
      sent: [2, 1, 'sent', 'the provider accepted', 'end'],
      report: [1, 1, 'report', 'recorded, then answered'],
      listeners: [0, 1, 'events, webhooks', 'after the commit', 'end'],
    },
    arrows: [
      ['send', 'batch', 'commit'],
      ['batch', 'lane', 'wake'],
      ['lane', 'intent', ''],
      ['intent', 'submit', 'key'],
      ['submit', 'sent', 'answer'],
      ['sent', 'report', ''],
      ['report', 'listeners', ''],
    ],
  },
  statuses: {
    title: 'Statuses of an SMS',
    text: 'A message is queued, then sending, then sent, then delivered. A refusal makes it rejected, a lost answer unknown until a report or a poll settles it, and a report may make it undelivered, failed or expired.',
    boxes: {
      queued: [0, 1, 'queued', 'accepted, durable'],
      sending: [1, 1, 'sending', 'an intent is stored'],
      sent: [2, 1, 'sent', 'the provider has it'],
      delivered: [3, 1, 'delivered', 'the phone has it', 'end'],
      rejected: [1, 0, 'rejected', 'a definite refusal', 'stop'],
      expired: [0, 2, 'expired', 'its time is over', 'stop'],
      unknown: [1, 2, 'unknown', 'the answer is lost'],
      undelivered: [3, 2, 'undelivered, failed', 'by a report', 'stop'],
    },
    arrows: [
      ['queued', 'sending', ''],
      ['sending', 'sent', 'answer'],
      ['sent', 'delivered', 'report'],
      ['sending', 'rejected', ''],
      ['sending', 'unknown', ''],
      ['queued', 'expired', ''],
      ['unknown', 'sent', 'report, poll'],
      ['sent', 'undelivered', 'report'],
    ],
  },
  lanes: {
    title: 'Lanes and their holders',
    text: 'Each account has a lane for each channel. A lane is leased by one process at a time, which sends its messages in order at its rate; after a crash another process takes the lease over.',
    boxes: {
      a: [0, 0, 'acc_a:sms', 'in order, 50/s'],
      b: [0, 1, 'acc_a:email', 'in order, 50/s'],
      c: [0, 2, 'acc_b:sms', 'in order, 50/s'],
      one: [1, 0, 'process 1', 'leases, renews'],
      two: [1, 2, 'process 2', 'takes over after 30 s'],
      rate: [2, 1, 'rate of the provider', 'over all processes'],
      provider: [3, 1, 'provider', 'connections', 'end'],
    },
    arrows: [
      ['a', 'one', 'lease'],
      ['b', 'one', 'lease'],
      ['c', 'two', 'lease'],
      ['one', 'rate', ''],
      ['two', 'rate', ''],
      ['rate', 'provider', ''],
    ],
  },
  failover: {
    title: 'Failover between providers',
    text: 'The route names providers. A refusal for now, or a pause, sends the message to the next provider; a definite refusal of the number rejects it; where the answer is lost no other provider gets it.',
    boxes: {
      route: [0, 1, 'route', 'failover(a, b)'],
      a: [1, 1, 'provider a', 'the intent names it'],
      sent: [2, 0, 'sent', 'a has accepted', 'end'],
      b: [2, 1, 'provider b', 'the same message'],
      unknown: [2, 2, 'unknown', 'only a is asked'],
      rejected: [1, 2, 'rejected', 'by no other one', 'stop'],
      by: [3, 1, 'sent', 'b has accepted', 'end'],
    },
    arrows: [
      ['route', 'a', ''],
      ['a', 'sent', 'accepted'],
      ['a', 'b', 'not now'],
      ['a', 'unknown', 'no answer'],
      ['a', 'rejected', 'the number'],
      ['b', 'by', ''],
    ],
  },
  window: {
    title: 'The 24-hour window of WhatsApp',
    text: 'A person opts in; a template starts the conversation. An answer of the person opens a window of 24 hours in which free text may be sent; each further answer opens it anew. After it only templates leave, and STOP ends all.',
    boxes: {
      opted: [0, 0, 'opted in', 'recorded consent'],
      template: [1, 0, 'template', 'approved by Meta'],
      reply: [2, 0, 'answer', 'of the person'],
      open: [3, 0, 'window open', '24 hours: free text', 'end'],
      closed: [3, 1, 'window closed', 'templates only'],
      stop: [2, 1, 'STOP', 'opted out', 'stop'],
    },
    arrows: [
      ['opted', 'template', ''],
      ['template', 'reply', ''],
      ['reply', 'open', 'opens'],
      ['open', 'closed', 'after 24 h'],
      ['reply', 'stop', ''],
    ],
  },
  ledger: {
    title: 'The ledger of an account',
    text: 'A top-up raises the balance. A send reserves its price, or is refused where too little is available. The status sent moves the price from reserved to charged, a failure releases it, and a later failure refunds it; every change is an entry with the balance after it.',
    boxes: {
      top: [0, 0, 'top-up', 'an entry'],
      available: [1, 0, 'available', 'balance − reserved + limit'],
      reserved: [2, 0, 'reserved', 'with the send'],
      charged: [3, 0, 'charged', 'with the status', 'end'],
      refused: [1, 1, '402', 'insufficient_balance', 'stop'],
      released: [2, 1, 'released', 'rejected, failed'],
      refund: [3, 1, 'refund', 'an entry'],
    },
    arrows: [
      ['top', 'available', ''],
      ['available', 'reserved', 'send()'],
      ['reserved', 'charged', 'sent'],
      ['available', 'refused', 'too little'],
      ['reserved', 'released', 'fails'],
      ['charged', 'refund', 'fails later'],
    ],
  },
};

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @returns the SVG of a diagram of {@link DIAGRAMS} */
export function draw(name) {
  const { title, text, boxes, arrows } = DIAGRAMS[name];
  const places = Object.fromEntries(
    Object.entries(boxes).map(([key, [column, row]]) => [
      key,
      { x: EDGE + column * (WIDTH + GAP_X), y: EDGE + row * (HEIGHT + GAP_Y) },
    ]),
  );
  const all = Object.values(places);
  const width = Math.max(...all.map(({ x }) => x)) + WIDTH + EDGE;
  const height = Math.max(...all.map(({ y }) => y)) + HEIGHT + EDGE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${name}-title ${name}-text">`,
    `<title id="${name}-title">${escaped(title)}</title><desc id="${name}-text">${escaped(text)}</desc>`,
    `<style>${STYLE}</style><rect class="back" width="${width}" height="${height}" rx="12"/>`,
    ...arrows.map(([from, to, word]) => arrow(places[from], places[to], word)),
    ...Object.entries(boxes).map(([key, [, , line, under, kind = 'box']]) =>
      box(places[key], line, under, kind),
    ),
    '</svg>\n',
  ].join('\n');
}

function box({ x, y }, line, under, kind) {
  const middle = x + WIDTH / 2;
  return `<rect class="${kind}" x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="8"/><text x="${middle}" y="${y + 24}">${escaped(line)}</text><text class="under" x="${middle}" y="${y + 42}">${escaped(under)}</text>`;
}

/** From edge to edge: within a column down or up, else to the side. */
function arrow(from, to, word) {
  const isColumn = from.x === to.x;
  const [down, right] = [Math.sign(to.y - from.y), Math.sign(to.x - from.x)];
  const start = isColumn
    ? { x: from.x + WIDTH / 2, y: down > 0 ? from.y + HEIGHT : from.y }
    : { x: right > 0 ? from.x + WIDTH : from.x, y: from.y + HEIGHT / 2 };
  const end = isColumn
    ? { x: to.x + WIDTH / 2, y: down > 0 ? to.y : to.y + HEIGHT }
    : { x: right > 0 ? to.x : to.x + WIDTH, y: to.y + HEIGHT / 2 };
  const angle = Math.round((Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI);
  const [x, y] = [(start.x + end.x) / 2, (start.y + end.y) / 2];
  const place = isColumn
    ? `x="${x + 8}" y="${y + 4}" style="text-anchor:start"`
    : `x="${x}" y="${y - 7}"`;
  return [
    `<path class="way" d="M${start.x} ${start.y}L${end.x} ${end.y}"/>`,
    `<path class="tip" d="M0 0l-8-4v8z" transform="translate(${end.x} ${end.y}) rotate(${angle})"/>`,
    word === '' ? '' : `<text class="word" ${place}>${escaped(word)}</text>`,
  ].join('');
}

if (import.meta.filename === process.argv[1]) {
  const folder = join(import.meta.dirname, 'images');
  await mkdir(folder, { recursive: true });
  for (const name of Object.keys(DIAGRAMS))
    await writeFile(join(folder, `${name}.svg`), draw(name));
}
