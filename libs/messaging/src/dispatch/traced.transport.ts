import type {
  MessageTransport,
  Submission,
  SubmissionAccepted,
} from '../ports/message-transport.js';
import type { MessagingTracing } from '../ports/tracing.js';

/** The transport, each of whose requests is a step of the trace the message was sent in. */
export function tracedTransport(
  transport: MessageTransport,
  tracing: MessagingTracing,
): Pick<MessageTransport, 'name' | 'capabilities' | 'submit'> {
  const { name } = transport;
  return {
    name,
    get capabilities() {
      return transport.capabilities;
    },
    submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
      const { id, channel, recipients, attempt, trace } = submission;
      if (!trace) return transport.submit(submission, signal);
      return tracing.step(
        {
          operation: 'submit',
          type: 'send',
          kind: 'client',
          channel,
          id,
          messages: recipients.length,
          attributes: { 'dundun.transport': name, 'dundun.attempt': attempt },
          parent: trace,
          quiet: transport.capabilities.passesTraceOn ?? false,
        },
        (own) => transport.submit({ ...submission, trace: own ?? trace }, signal),
      );
    },
  };
}
