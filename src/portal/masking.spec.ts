import { expect, it } from '@jest/globals';
import { maskedAddress, maskedCallback, maskedText } from './masking.js';

it('a masked number ends in its last two digits, and a masked e-mail address keeps its host', () => {
  expect(maskedAddress({ kind: 'phone', value: '2348012345601' })).toBe('•••••••••••01');
  expect(maskedAddress({ kind: 'email', value: 'hello@demo.test' })).toBe('h•••@demo.test');
  expect(maskedAddress({ kind: 'platform', value: 'US.1234567890' })).toBe('•••••••••••90');
  expect(maskedAddress({ kind: 'platform', value: '12' })).toBe('••');
});

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
    data: { ...data, to: '•••••••••••78', bsuid: '••••••••', text: '•••' },
  });
});

it('a masked text hides numbers and e-mail addresses, and keeps ids and times', () => {
  const text =
    'no user 2348012345678 <ada@example.com> at 2026-11-20T13:20:28.001Z, request 01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';
  expect(maskedText(text)).toBe(
    'no user •••••••••••78 <a•••@example.com> at 2026-11-20T13:20:28.001Z, request 01a1f91d-94f5-779e-8c4f-a4ea0dc430dd',
  );
});
