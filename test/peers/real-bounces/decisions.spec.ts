import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { registryOf } from '../../../libs/messaging/src/channels/built-in-channels.js';
import { readMail } from '../../../libs/messaging/src/providers/smtp/mail-report.js';
import { Verp } from '../../../libs/messaging/src/providers/smtp/verp.js';

/** Only with `TEST_BOUNCES` does jest.config.js list this suite. */
const FOLDER = process.env['TEST_BOUNCES'] ?? '';
const MAILS = join(FOLDER, 'set-of-emails/maildir/bsd');
const TABLES = join(FOLDER, 'go-sisimai/fact');

const verp = new Verp([Buffer.alloc(32, 1)]);
const SUBMISSION = '019a0f3e-7c55-7000-8000-0123456789ab-s4';
const RETURN = verp.addressOf(SUBMISSION, 'bounce.example.com') ?? '';
const channels = registryOf();

/** The verdict of the corpus on the first recipient of a mail. */
interface Verdict {
  readonly file: string;
  /** Such as `5.1.1`. */
  readonly status: string;
  readonly reason: string;
  readonly suppressed: boolean;
}

/** Rows such as `{"01", 1, "5.1.1", "550", "userunknown", true, ""}`, before those of secret mails. */
function verdicts(): Verdict[] {
  const found = new Map<string, Verdict>();
  for (const name of readdirSync(TABLES)) {
    const [, group] = /^\d+-((?:lhost|rhost)-[\w-]+|rfc\d+|arf)_test\.go$/.exec(name) ?? [];
    const [table = ''] = readFileSync(join(TABLES, name), 'utf8').split('EngineTest(');
    for (const row of group === undefined ? [] : table.matchAll(ROW)) {
      const [, number, status = '', reason = '', hard, feedback] = row;
      const file = `${group}-${number}`;
      // A report of a failed authentication is none of a person.
      const suppressed = hard === 'true' || (reason === 'feedback' && feedback !== 'auth-failure');
      if (!found.has(file) && existsSync(join(MAILS, `${file}.eml`)))
        found.set(file, { file, status, reason, suppressed });
    }
  }
  return [...found.values()];
}

const ROW = /\{"(\d+)",\s*1,\s*"([^"]*)",\s*"[^"]*",\s*"(\w+)",\s*(true|false),\s*"([^"]*)"/g;

/**
 * The decision of the verdict by our rules (docs/email.md), where the corpus has others; `undefined`:
 * the corpus has none. It writes `filtered` where the words are those of a missing mailbox and the
 * mail does not tell the SMTP command; ours then decides by the words.
 */
function byOurRules({ status, reason, suppressed }: Verdict): boolean | undefined {
  if (reason === 'filtered') return undefined;
  if (reason === 'suspend' && status === '5.2.1') return true;
  return suppressed && !/^(?:5\.7|4)\./.test(status);
}

/** Our decision, as the listener and the store take it. */
async function decision(file: string): Promise<{ suppressed: boolean; ours: string }> {
  const text = readFileSync(join(MAILS, `${file}.eml`), 'latin1');
  const raw = Buffer.from(text.replace(/^From .*\n/, '').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
  const mail = await readMail(raw, { from: '', to: [RETURN] }, verp);
  if (mail.kind !== 'report')
    return { suppressed: false, ours: mail.kind === 'ignored' ? mail.reason : mail.kind };
  const { status, errorCode, details } = mail.report;
  const rule =
    status === null ? undefined : channels.suppressionOf('email', status, errorCode, details);
  const ours = [status, details?.category, errorCode].join(' ');
  return { suppressed: rule !== undefined, ours };
}

describe('mails of the public corpus of bounces', () => {
  it('97 of 100 decisions to suppress are those of the corpus', async () => {
    const all = verdicts();
    const lines: string[] = [];
    const kinds = new Map<string, number>();
    let [same, decided, equal] = [0, 0, 0];
    for (const verdict of all) {
      const { suppressed, ours } = await decision(verdict.file);
      const [kind = ''] = ours.split(' ');
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const expected = byOurRules(verdict);
      if (expected !== undefined) decided++;
      if (expected === suppressed) equal++;
      if (verdict.suppressed === suppressed) same++;
      else {
        const { file, status, reason } = verdict;
        const mark = expected === suppressed || expected === undefined ? 'by our rules' : 'differs';
        lines.push(`${mark}: ${file}: ${reason} ${status}; here ${ours}`);
      }
    }
    process.stdout.write(
      [
        `${equal} of ${decided} decisions are equal by our rules; ${same} of ${all.length} by its own`,
        ...[...kinds].map(([kind, count]) => `${count} ${kind}`),
        ...lines.sort(),
        '',
      ].join('\n'),
    );
    expect(decided).toBeGreaterThan(0);
    expect(equal / decided).toBeGreaterThanOrEqual(0.97);
  });
});
