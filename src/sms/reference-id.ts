import { BatchNotFoundError } from '@dundun/messaging';
import { Param } from '@nestjs/common';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isReferenceId(value: string): boolean {
  return UUID.test(value);
}

/** `{reference_id}` of the path; what cannot be one is not found. */
export function ReferenceId(): ParameterDecorator {
  return Param('referenceId', {
    transform: (value: string): string => {
      if (!isReferenceId(value)) throw new BatchNotFoundError(value.slice(0, 36));
      return value.toLowerCase();
    },
  });
}
