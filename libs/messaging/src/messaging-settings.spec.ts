import { describe, expect, it } from '@jest/globals';
import { MessagingConfigError } from './message/errors.js';
import { settingsOf } from './messaging-settings.js';
import type { FrequencyCapOptions } from './ports/policy-options.js';

describe('settings', () => {
  it.each<[string, object, string]>([
    ['of no category', { fax: { max: 1, per: '1h' } }, 'policy.frequencyCap.fax'],
    ['of nothing', { sms: { max: 0, per: '1h' } }, 'policy.frequencyCap.sms.max'],
    ['of no time', { sms: { max: 1, per: 'soon' } }, 'policy.frequencyCap.sms.per'],
  ])('a frequency cap %s is told at boot', (_what, frequencyCap, field) => {
    const settings = () =>
      settingsOf({ policy: { frequencyCap: frequencyCap as FrequencyCapOptions } });
    expect(settings).toThrow(MessagingConfigError);
    expect(settings).toThrow(field);
  });

  it('what is to be counted must be kept as long', () => {
    const policy = { frequencyCap: { sms: { max: 1, per: '7d' } } };
    expect(() => settingsOf({ policy, retention: { content: '3d' } })).toThrow('retention.content');
    expect(() => settingsOf({ policy, retention: { messages: '6d' } })).toThrow(
      'retention.messages',
    );
    expect(settingsOf({ policy, retention: { content: '7d', messages: '30d' } })).toBeDefined();
  });
});
