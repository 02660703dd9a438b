import type { JSX } from 'preact';
import type { LaneItem, LanesAnswer, ProvidersAnswer } from '../../src/api.js';
import { call } from '../app/api-client.js';
import { useContextData } from '../app/context.js';
import { duration, formatNumber, plural } from '../app/format.js';
import { toast } from '../app/toasts.js';
import { useAction, useData } from '../app/use-data.js';
import { Badge, type Tone } from '../components/badge.js';
import {
  Button,
  Card,
  Empty,
  ErrorNotice,
  PageHeader,
  Skeleton,
  Time,
} from '../components/basics.js';
import { Table } from '../components/table.js';

const TONES: Readonly<Record<LaneItem['state'], Tone>> = {
  working: 'success',
  waiting: 'info',
  paused: 'warning',
  held: 'danger',
};

export function LanesPage(): JSX.Element {
  const lanes = useData<LanesAnswer>('api/lanes', true);
  const providers = useData<ProvidersAnswer>('api/providers', true);
  return (
    <>
      <PageHeader
        title="Lanes"
        description="A lane is the unit of order and rate: one tenant’s channel. Lanes with nothing to do are not listed."
      />
      <Card flush title="Lanes with work">
        {lanes.loading && <Skeleton />}
        <ErrorNotice error={lanes.error} retry={lanes.reload} />
        {lanes.data &&
          (lanes.data.data.length > 0 ? (
            <LaneTable lanes={lanes.data.data} reload={lanes.reload} />
          ) : (
            <Empty icon="lane" title="No lane has work">
              Every message that was due has left.
            </Empty>
          ))}
      </Card>
      <Card flush title="Providers" description="The ways out, and how fast each may be used">
        {providers.loading && <Skeleton />}
        <ErrorNotice error={providers.error} retry={providers.reload} />
        {providers.data && <ProviderTable providers={providers.data.data} />}
      </Card>
    </>
  );
}

function LaneTable(props: {
  lanes: readonly LaneItem[];
  reload: () => Promise<void>;
}): JSX.Element {
  const { act } = useContextData();
  return (
    <Table
      label="Lanes with work"
      rows={props.lanes}
      id={({ lane }) => lane}
      columns={[
        { title: 'Lane', cell: ({ lane }) => <code>{lane}</code> },
        { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
        { title: 'Why', cell: (lane) => <Why lane={lane} /> },
        {
          title: 'Oldest waits',
          number: true,
          cell: ({ waiting }) => (waiting > 0 ? duration(waiting) : '–'),
        },
        {
          title: 'Actions',
          actions: true,
          cell: (lane) =>
            act && lane.state === 'paused' && <Resume lane={lane} done={props.reload} />,
        },
      ]}
    />
  );
}

function Why({ lane }: { lane: LaneItem }): JSX.Element {
  const { hold, pause, doubt } = lane;
  if (!hold && !pause && !doubt) return <span class="muted">–</span>;
  return (
    <div>
      <Cause lane={lane} />
      {doubt && (
        <div>
          <Doubt doubt={doubt} />
        </div>
      )}
    </div>
  );
}

function Doubt({ doubt }: { doubt: NonNullable<LaneItem['doubt']> }): JSX.Element {
  const { submissions, since, title } = doubt;
  return (
    <div class="reason">
      <strong>{plural(submissions, 'request')} without an outcome</strong>
      <p class="small">{title}. The provider is asked, and the request is repeated.</p>
      <p class="muted small">
        since <Time at={since} exact />
      </p>
    </div>
  );
}

function Cause({ lane: { hold, pause } }: { lane: LaneItem }): JSX.Element | null {
  const cause = hold ?? pause;
  if (!cause) return null;
  return (
    <div class="reason">
      <strong>{cause.title}</strong>
      {cause.remedy && <p class="small">{cause.remedy}</p>}
      <p class="muted small">
        {hold ? (
          <>
            since <Time at={hold.since} exact />
          </>
        ) : (
          pause?.until && (
            <>
              tries again <Time at={pause.until} />
            </>
          )
        )}
      </p>
    </div>
  );
}

function Resume(props: { lane: LaneItem; done: () => Promise<void> }): JSX.Element {
  const { lane } = props.lane;
  const resume = useAction(async () => {
    await call('POST', `api/lanes/${encodeURIComponent(lane)}/resume`);
    toast(`Lane ${lane} sends again`);
    await props.done();
  });
  return (
    <>
      <Button icon="play" busy={resume.busy} onClick={() => void resume.run()}>
        Resume
      </Button>
      <ErrorNotice error={resume.error} />
    </>
  );
}

const rate = ({ max, per }: { max: number; per: number }): string =>
  per === 1000 ? `${formatNumber(max)}/s` : `${formatNumber(max)} in ${duration(per)}`;

function ProviderTable({ providers }: { providers: ProvidersAnswer['data'] }): JSX.Element {
  return (
    <Table
      label="Providers"
      rows={providers}
      id={({ name }) => name}
      columns={[
        {
          title: 'Provider',
          cell: ({ name, simulator }) => (
            <>
              {name} {simulator && <Badge tone="warning">simulator</Badge>}
            </>
          ),
        },
        {
          title: 'Now',
          number: true,
          cell: ({ rateNow }) => `${formatNumber(rateNow)}/s`,
        },
        {
          title: 'Allowed',
          number: true,
          cell: ({ rateAllowed }) => (rateAllowed ? rate(rateAllowed) : 'unlimited'),
        },
        {
          title: 'In flight',
          number: true,
          cell: ({ inFlight, connections }) =>
            connections === null ? inFlight : `${inFlight} of ${connections}`,
        },
        {
          title: 'Connections',
          number: true,
          cell: ({ places }) => (places ? `${places.taken} of ${places.most}` : '–'),
        },
        {
          title: 'State',
          cell: ({ pausedLanes, pause }) =>
            pausedLanes.length > 0 ? (
              <>
                <Badge tone="warning">{plural(pausedLanes.length, 'lane')} at rest</Badge>{' '}
                <span class="muted">{pause}</span>
              </>
            ) : (
              <Badge tone="success">working</Badge>
            ),
        },
      ]}
    />
  );
}
