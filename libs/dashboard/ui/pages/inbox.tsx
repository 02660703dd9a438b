import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InboxEmail } from '../../src/api.js';
import { fullTime } from '../app/format.js';
import { Button, Card, Facts, Time } from '../components/basics.js';
import { ReportButtons } from './report-buttons.js';

/** E-mails to simulated recipients, as a mail program shows them. */
export function Inbox({ emails }: { emails: readonly InboxEmail[] }): JSX.Element {
  const [chosen, setChosen] = useState<string>();
  const email = emails.find(({ id }) => id === chosen) ?? emails[0];
  return (
    <Card title="Inbox" flush>
      <div class="inbox">
        <ul aria-label="E-mails" tabIndex={0}>
          {emails.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                aria-current={one.id === email?.id ? 'true' : undefined}
                onClick={() => setChosen(one.id)}
              >
                <span>
                  <strong>{one.from}</strong>
                  <Time at={one.at} />
                </span>
                <span>{subjectOf(one)}</span>
                <span class="muted">to {one.to}</span>
              </button>
            </li>
          ))}
        </ul>
        {email && <Email key={email.id} email={email} />}
      </div>
    </Card>
  );
}

function Email({ email }: { email: InboxEmail }): JSX.Element {
  const [plain, setPlain] = useState(false);
  const html = email.hasHtml && !plain;
  return (
    <article>
      <header>
        <h3>{subjectOf(email)}</h3>
        {email.hasHtml && email.text !== null && (
          <Button onClick={() => setPlain(!plain)}>{plain ? 'Show HTML' : 'Show text'}</Button>
        )}
      </header>
      <Facts
        rows={[
          ['From', email.from],
          ['To', email.to],
          ['Date', fullTime(email.at)],
        ]}
      />
      {html ? (
        <iframe
          class="email-frame"
          title={`E-mail: ${email.subject}`}
          sandbox=""
          src={`api/phones/${encodeURIComponent(email.id)}/html`}
        />
      ) : (
        <p class="message-text">{email.text ?? 'This e-mail has no text.'}</p>
      )}
      <ReportButtons channel={email.channel} message={email} />
    </article>
  );
}

/** An e-mail with a one-time code is erased when its verification has ended. */
function subjectOf({ subject, text, hasHtml }: InboxEmail): string {
  return subject || (text === null && !hasHtml ? 'Deleted e-mail' : '(no subject)');
}
