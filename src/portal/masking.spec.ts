import { expect, it } from '@jest/globals';
import { maskedText } from '@dundun/dashboard';
import { maskedCallback } from './masking.js';

it('a masked callback keeps ids, times and the sender ID, and hides addresses and texts', () => {
  const data = {
    reference_id: '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
    message_id: 'wamid.HBgM',
    to: '2348012345678',
    from: 'ACME',
    bsuid: 'US.12345',
    text: 'My secret is 42',
    received_at: '2026-11-20T13:20:28.001Z',
    sequence: 2,
  };
  const masked = maskedCallback(JSON.stringify({ type: 'x', data }));
  expect(JSON.parse(masked)).toEqual({
    type: 'x',
    data: { ...data, to: '+234 801 ••• 5678', bsuid: 'platform:•••', text: '•••' },
  });
});

it('a masked text hides numbers and e-mail addresses, and keeps ids and times', () => {
  const text =
    'no user +2348012345678 (2348012345679) <ada@example.com> at 2026-11-20T13:20:28.001Z, request 01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';
  expect(maskedText(text)).toBe(
    'no user +234 801 ••• 5678 (+234 801 ••• 5679) <a•••@example.com> at 2026-11-20T13:20:28.001Z, request 01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
  );
});
