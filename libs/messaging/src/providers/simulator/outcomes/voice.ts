import type { VoiceContent } from '../../../message/content/voice-content.js';
import type { SimulatedOutcome, SimulatedReport, Simulation } from '../simulation.js';

const RINGING: SimulatedReport = { status: 'ringing', rawStatus: 'ringing' };
/** Seconds. */
const TALK = 7;
const SECOND = 1_000;

function outcomeOf(
  digits: string,
  { attempt, content }: Parameters<Simulation['outcomeOf']>[1],
): SimulatedOutcome {
  const call = content?.kind === 'call' ? (content as VoiceContent) : undefined;
  switch (digits) {
    case '9901':
      return unanswered('busy');
    case '9902':
      return { ...unanswered('no_answer'), before: RINGING };
    case '9903':
      return {
        course: 'refused',
        status: 'rejected',
        rawStatus: 'rejected',
        errorCode: 'call_rejected',
      };
    case '9904':
      return attempt === 1 ? unanswered('busy') : answered('human');
    case '9908':
      return { ...answered('human'), course: 'unreported' };
    case '9911':
      return answered('machine', call?.machine === 'hangup' ? 1 : TALK);
    case '9912':
      return answered('human', TALK, call?.collect ? '1' : null);
    default:
      return answered('human');
  }
}

function unanswered(status: 'busy' | 'no_answer'): SimulatedOutcome {
  return {
    course: 'reported',
    status,
    rawStatus: status,
    errorCode: status,
    details: (at) => ({ ended_at: at.toISOString(), duration: 0, hangup_cause: status }),
  };
}

/** The end lies in the future of the simulated answer, so that no test waits for the talk. */
function answered(by: 'human' | 'machine', duration = TALK, digits: string | null = null) {
  const answeredAt = (at: Date) => ({ answered_at: at.toISOString(), answered_by: by });
  return {
    course: 'reported',
    before: RINGING,
    status: 'answered',
    rawStatus: 'answered',
    details: answeredAt,
    later: {
      status: 'completed',
      rawStatus: 'completed',
      details: (at: Date) => ({
        ...answeredAt(at),
        ended_at: new Date(at.getTime() + duration * SECOND).toISOString(),
        duration,
        hangup_cause: 'normal_clearing',
        ...(digits !== null && { digits }),
      }),
    },
  } as const satisfies SimulatedOutcome;
}

export const VOICE: Simulation = {
  outcomeOf: ({ value }, dial) => outcomeOf(value.slice(-4), dial),
  underway: RINGING,
};
