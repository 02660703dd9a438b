import { Badge, call, Card, List, Time, useData } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Listed, OwnSession } from '../../../portal-api.js';
import { ConfirmButton } from '../../components/form-button.js';

/** The sessions of the signed-in person. */
export function SessionsCard(): JSX.Element {
  const list = useData<Listed<OwnSession>>('api/session/all');
  return (
    <Card flush title="Your sessions" description="Browsers in which you are signed in.">
      <List
        label="Your sessions"
        list={list}
        empty={null}
        id={({ id }) => id}
        columns={[
          {
            title: 'Browser',
            cell: ({ userAgent, isCurrent }) => (
              <>
                {browserOf(userAgent)} {isCurrent && <Badge tone="info">this one</Badge>}
              </>
            ),
          },
          { title: 'Address', cell: ({ ip }) => ip ?? '–' },
          { title: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            title: 'Actions',
            actions: true,
            cell: ({ id, userAgent, isCurrent }) =>
              !isCurrent && (
                <ConfirmButton
                  label="End"
                  name={`End the session in ${browserOf(userAgent)}`}
                  title="End this session?"
                  confirm="End it"
                  action={() => call('DELETE', `api/session/all/${id}`)}
                  done="Session ended"
                  reload={list.reload}
                >
                  {browserOf(userAgent)} is signed out at once.
                </ConfirmButton>
              ),
          },
        ]}
      />
    </Card>
  );
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

/** Browser and system of a `User-Agent`; the order of the lists decides. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser';
  const [, browser] = BROWSERS.find(([mark]) => userAgent.includes(mark)) ?? [];
  const [, system] = SYSTEMS.find(([mark]) => userAgent.includes(mark)) ?? [];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
