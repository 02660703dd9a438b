import type { Type } from '@nestjs/common';
import { MessagingError } from '../message/errors.js';

/** The public methods and fields of a service, which a hand-written fake implements. */
export type PublicOf<Service> = { readonly [Member in keyof Service]: Service[Member] };

/** The test called a method that its fake does not have. */
export class NotFakedError extends MessagingError {
  constructor(
    readonly service: string,
    readonly member: string,
  ) {
    super(
      'not_faked',
      `${service}.${member} is used, and the fake has no such member: pass it to fakeService(${service}, { ${member}: … })`,
    );
  }
}

/** Members that Nest, promises and matchers ask every object for. */
const ASKED_OF_ALL =
  /^(?:then|toJSON|asymmetricMatch|nodeType|tagName|\$\$typeof|on[A-Z]\w*|before[A-Z]\w*|constructor|hasOwnProperty|@@__IMMUTABLE_\w+)$/;

/**
 * A fake of one service for a unit test without the module; its members are checked against the
 * service. A member that it does not have throws a {@link NotFakedError} where it is used.
 * @example
 * const sms = fakeService(SmsService, { send: jest.fn(async () => receipt) });
 * const orders = new OrdersService(sms);
 */
export function fakeService<Service extends object>(
  service: Type<Service>,
  members: Partial<PublicOf<Service>> = {},
): Service {
  return new Proxy(members, {
    get: (target, name, receiver) => {
      if (typeof name === 'symbol' || name in target || ASKED_OF_ALL.test(name))
        return Reflect.get(target, name, receiver) as unknown;
      throw new NotFakedError(service.name, name);
    },
  }) as Service;
}
