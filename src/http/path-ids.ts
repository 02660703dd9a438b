import { BatchNotFoundError, MessageNotFoundError } from '@dundun/messaging';
import { messagePlaceOf } from '@dundun/messaging/values';
import { Param } from '@nestjs/common';
import { isUUID } from 'class-validator';

/** A parameter of the path that is the id of a batch; another text gets 404. */
export function BatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      if (!isUUID(value)) throw new BatchNotFoundError(value.slice(0, 36));
      return value.toLowerCase();
    },
  });
}

/** A parameter of the path that is the id of a message or of a batch; another text gets 404. */
export function MessageOrBatchId(name: string): ParameterDecorator {
  return Param(name, {
    transform: (value: string): string => {
      const id = value.toLowerCase();
      if (!isUUID(id) && !messagePlaceOf(id)) throw new MessageNotFoundError(value);
      return id;
    },
  });
}
